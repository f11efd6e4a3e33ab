<?php
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The ephpm developers
// Objects: construction, properties, methods, an interface, inheritance, static calls.
interface BenchShape
{
    public function area(): int;
}

abstract class BenchBase implements BenchShape
{
    private static int $made = 0;
    protected int $scale = 2;

    public function __construct(protected int $width)
    {
        self::$made++;
    }

    public function scaled(): int
    {
        return $this->area() * $this->scale;
    }

    public static function made(): int
    {
        return self::$made;
    }
}

final class BenchSquare extends BenchBase
{
    public function area(): int
    {
        return $this->width * $this->width;
    }
}

final class BenchBox extends BenchBase
{
    public function __construct(int $width, private readonly int $height)
    {
        parent::__construct($width);
    }

    public function area(): int
    {
        return $this->width * $this->height;
    }

    public function __get(string $name): int
    {
        return strlen($name);
    }
}

return function (): string {
    $before = BenchBase::made();
    $sum = 0;
    for ($i = 0; $i < 15000; $i++) {
        $shape = $i % 3 ? new BenchSquare($i & 15) : new BenchBox($i & 7, 3);
        $sum += $shape->scaled() + $shape->area();
        if ($shape instanceof BenchBox) {
            $sum += $shape->length;
        }
    }
    return $sum . ' ' . (BenchBase::made() - $before);
};
