<?php
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The ephpm developers
// Floating point: the Mandelbrot set on 80 by 60 points.
return function (): string {
    $inside = 0;
    $steps = 0;
    for ($py = 0; $py < 60; $py++) {
        $cy = $py / 30.0 - 1.0;
        for ($px = 0; $px < 80; $px++) {
            $cx = $px / 32.0 - 2.0;
            $x = 0.0;
            $y = 0.0;
            for ($i = 0; $i < 60; $i++) {
                $xx = $x * $x;
                $yy = $y * $y;
                if ($xx + $yy > 4.0) {
                    break;
                }
                $y = 2.0 * $x * $y + $cy;
                $x = $xx - $yy + $cx;
            }
            $steps += $i;
            $inside += $i === 60 ? 1 : 0;
        }
    }
    return "$inside $steps";
};
