<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
declare(strict_types=1);

namespace Train\Middleware;

use Train\Http\{HttpException, Request, Response};

final class Throttle implements Middleware
{
    private array $hits = [];
    private int $limit = 1000;

    public function with(string $limit): static
    {
        $this->limit = (int) $limit;
        return $this;
    }

    public function handle(Request $request, callable $next): Response
    {
        $key = $request->server->string('REMOTE_ADDR') . '|' . (explode('/', $request->path())[1] ?? '');
        $this->hits[$key] = ($this->hits[$key] ?? 0) + 1;
        if ($this->hits[$key] > $this->limit) {
            unset($this->hits[$key]);
            throw new HttpException(429, 'Too many requests', ['Retry-After' => '1']);
        }
        return $next($request);
    }
}
