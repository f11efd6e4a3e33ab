<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
declare(strict_types=1);

namespace Train\Controller;

use Train\Serializer\Field;

final class Order
{
    #[Field(groups: ['default', 'order'])]
    public Customer $customer;
    #[Field(groups: ['order'], format: 'd.m.Y')]
    public \DateTimeImmutable $deliver;
    #[Field(groups: ['order'])]
    public string $payment;
    #[Field(groups: ['order'])]
    public array $items = [];
    #[Field('total_cents', ['order'])]
    public int $total = 0;
}
