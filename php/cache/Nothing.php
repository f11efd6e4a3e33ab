<?php
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The ephpm developers

declare(strict_types=1);

namespace Ephpm\Cache;

/** Stored in the place of null. */
enum Nothing
{
    case Value;
}
