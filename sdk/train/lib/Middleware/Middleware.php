<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
declare(strict_types=1);

namespace Train\Middleware;

use Train\Http\{Request, Response};

interface Middleware
{
    public function handle(Request $request, callable $next): Response;
}
