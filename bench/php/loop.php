<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
declare(strict_types=1);

// The plainest loop there is: 300,000 operations on integers, then 20,000 appends to a string.
return function (): Closure {
    return function (): string {
        for ($i = $sum = 0; $i < 300000; $i++)
            $sum = ($sum + $i * 3) & 0xffffff;
        $text = '';
        for ($i = 0; $i < 20000; $i++)
            $text .= 'x';
        return $sum . ' ' . strlen($text);
    };
};
