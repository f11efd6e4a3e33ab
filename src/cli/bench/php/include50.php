<?php
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The ephpm developers
$sum = 0;
for ($i = 0; $i < 50; $i++) {
    require_once __DIR__ . "/class/C$i.php";
    $class = "C$i";
    $sum += (new $class())->value();
}
echo $sum;
