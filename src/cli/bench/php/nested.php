<?php
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The ephpm developers
// Loops within loops: 14 to the power of 5 rounds with little in them.
return function (): string {
    $n = 14;
    $x = 0;
    for ($a = 0; $a < $n; $a++) {
        for ($b = 0; $b < $n; $b++) {
            for ($c = 0; $c < $n; $c++) {
                for ($d = 0; $d < $n; $d++) {
                    for ($e = 0; $e < $n; $e++) {
                        $x += $a ^ $e;
                    }
                }
            }
        }
    }
    return (string) $x;
};
