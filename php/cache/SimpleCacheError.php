<?php
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The ephpm developers

declare(strict_types=1);

namespace Ephpm\Cache;

final class SimpleCacheError extends \InvalidArgumentException implements \Psr\SimpleCache\InvalidArgumentException
{
}
