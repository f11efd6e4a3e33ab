<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
declare(strict_types=1);

namespace Train;

use Train\Http\Request;
use Train\Middleware\Authenticate;

/** What visitors of the training site ask for; each entry as often as it weighs. */
final class Requests
{
    private const ORDER = '{"customer":{"name":"Ada Example","email":"ada@shop.example","site":"https://shop.example/ada"},'
        . '"deliver":"2024-06-30","payment":"card","items":[{"id":3,"quantity":2,"note":"Blue, please"},{"id":9,"quantity":1},{"id":12,"quantity":5}]}';
    private const BROKEN = '{"customer":{"name":"","email":"ada@","site":"nowhere"},"deliver":"2024-02-31","payment":"gold",'
        . '"items":[{"id":"x","quantity":0,"note":"<script>"},{"quantity":100}]}';

    /** @return \Generator<string, Request> */
    public static function all(): \Generator
    {
        $json = ['Accept' => 'application/json', 'Content-Type' => 'application/json'];
        foreach (['/', '/articles', '/articles?page=3', '/articles?q=stone', '/authors/2', '/authors/5', '/', '/feed.xml',
            '/about', '/help', '/terms', '/articles/7-wrong', '/nothing/here', '/articles/9999-x'] as $path)
            yield $path => Request::create($path);
        yield '/ again' => Request::create('/', headers: ['Cookie' => 'sid=0123456789abcdef0123456789abcdef; theme=dark',
            'Accept-Language' => 'fr;q=0.9,de;q=0.2', 'If-None-Match' => '"x", "y"', 'User-Agent' => 'Train/1.0']);
        foreach ([3, 11, 24, 38] as $id)
            yield "article $id" => Request::create("/api/articles/$id", headers: $json);
        yield 'list' => Request::create('/api/articles?page=2', headers: $json);
        yield 'statistics' => Request::create('/api/statistics', headers: $json);
        yield 'order' => Request::create('/api/orders', 'POST', headers: $json, body: self::ORDER);
        yield 'order, wrong' => Request::create('/api/orders', 'POST', headers: $json, body: self::BROKEN);
        yield 'order, not JSON' => Request::create('/api/orders', 'POST', headers: $json, body: '{"customer":');
        yield 'comment' => Request::create('/api/articles/5/comments', 'POST', ['text' => 'Well said', 'score' => '8']);
        yield 'not allowed' => Request::create('/api/orders', headers: $json);
        yield 'admin' => Request::create('/admin/users/17', 'POST', ['_method' => 'PUT'],
            ['Authorization' => 'Bearer ' . Authenticate::token('root')]);
        yield 'admin, no token' => Request::create('/admin/users', headers: $json);
    }
}
