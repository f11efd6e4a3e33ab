<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
declare(strict_types=1);

namespace Train\Middleware;

use Train\Http\{Request, Response};

final class Conditional implements Middleware
{
    public function handle(Request $request, callable $next): Response
    {
        $response = $next($request);
        if ($request->method() !== 'GET' || $response->status() !== 200)
            return $response;
        $tag = '"' . substr(hash('sha256', $response->content()), 0, 20) . '"';
        $response->headers->set('ETag', $tag);
        $known = array_map('trim', explode(',', $request->headers->get('if-none-match', '')));
        if (in_array($tag, $known, true))
            return new Response('', 304, ['ETag' => $tag]);
        $response->headers->set('Content-Length', (string) strlen($response->content()));
        return $response;
    }
}
