<?php
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The ephpm developers

declare(strict_types=1);

namespace Ephpm\Cache;

final class PoolError extends \InvalidArgumentException implements \Psr\Cache\InvalidArgumentException
{
}
