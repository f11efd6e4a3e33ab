<?php
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The ephpm developers
spl_autoload_register(function (string $class): void {
    $file = __DIR__ . "/class/$class.php";
    if (is_file($file)) {
        require $file;
    }
});
$sum = 0;
for ($i = 0; $i < 50; $i++) {
    $class = "C$i";
    $sum += (new $class())->value();
}
echo $sum;
