<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/* The training site as a server sees it: everything is made anew for one request. */
declare(strict_types=1);

require __DIR__ . '/../lib/autoload.php';

(new Train\Kernel($_SERVER['TRAIN_CACHE'] ?? sys_get_temp_dir()))->handle(Train\Http\Request::fromGlobals())->send();
