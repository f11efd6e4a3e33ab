<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
declare(strict_types=1);

namespace Train\Events;

class Event
{
    public bool $stopped = false;
    public array $notes = [];

    public function __construct(public readonly mixed $subject = null)
    {
    }
}
