<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
declare(strict_types=1);

// The whole site in one process: routing, container, middleware, models, templates.
return static function (string $cache): Closure {
    $kernel = new Train\Kernel($cache);
    return static function () use ($kernel): string {
        $out = '';
        $kernel->container->get(Train\Middleware\Session::class)->forget();
        foreach (Train\Requests::all() as $name => $request)
            $out .= "== $name\n" . $kernel->handle($request) . "\n";
        return $out;
    };
};
