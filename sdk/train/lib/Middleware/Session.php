<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
declare(strict_types=1);

namespace Train\Middleware;

use Train\Http\{Request, Response};
use Train\Support\Bag;

/** Keeps a visitor's values as one serialized string. */
final class Session implements Middleware
{
    /** @var array<string, string> */
    private array $stored = [];

    public function forget(): void
    {
        $this->stored = [];
    }

    public function handle(Request $request, callable $next): Response
    {
        $id = $request->cookies->string('sid');
        if (!preg_match('/^[a-z0-9]{32}$/', $id))
            $id = md5($request->server->string('REMOTE_ADDR') . $request->headers->get('user-agent', 'none'));
        $values = isset($this->stored[$id]) ? unserialize($this->stored[$id], ['allowed_classes' => false]) : [];
        $session = new Bag($values + ['visits' => 0, 'seen' => [], 'flash' => []]);
        $session->set('visits', $session->int('visits') % 7 + 1);
        $session->set('seen', array_slice([$request->path(), ...$session->get('seen')], 0, 8));
        $request->attributes->set('session', $session);
        $response = $next($request);
        $this->stored[$id] = serialize($session->all());
        $response->headers->set('Set-Cookie', sprintf('sid=%s; Path=/; HttpOnly; SameSite=Lax', rawurlencode($id)), false);
        return $response;
    }
}
