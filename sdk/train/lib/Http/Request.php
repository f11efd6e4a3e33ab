<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
declare(strict_types=1);

namespace Train\Http;

use Train\Support\Bag;

final class Request
{
    public readonly Bag $query;
    public readonly Bag $form;
    public readonly Bag $cookies;
    public readonly Bag $server;
    public readonly Bag $attributes;
    public readonly HeaderBag $headers;
    private ?string $path = null;
    private ?array $json = null;

    public function __construct(array $query, array $form, array $cookies, array $server, private string $body = '')
    {
        $this->query = new Bag($query);
        $this->form = new Bag($form);
        $this->cookies = new Bag($cookies);
        $this->server = new Bag($server);
        $this->attributes = new Bag();
        $this->headers = HeaderBag::fromServer($server);
    }

    public static function fromGlobals(): self
    {
        $body = in_array($_SERVER['REQUEST_METHOD'], ['POST', 'PUT', 'PATCH'], true)
            ? (string) file_get_contents('php://input') : '';
        return new self($_GET, $_POST, $_COOKIE, $_SERVER, $body);
    }

    public static function create(string $uri, string $method = 'GET', array $form = [], array $headers = [],
        string $body = ''): self
    {
        $parts = parse_url('http://shop.example' . $uri);
        parse_str($parts['query'] ?? '', $query);
        $server = ['REQUEST_METHOD' => strtoupper($method), 'REQUEST_URI' => $uri, 'SERVER_NAME' => 'shop.example',
            'SERVER_PORT' => 80, 'HTTP_HOST' => 'shop.example', 'REMOTE_ADDR' => '192.0.2.7',
            'QUERY_STRING' => $parts['query'] ?? '', 'SERVER_PROTOCOL' => 'HTTP/1.1',
            'HTTP_ACCEPT' => 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
            'HTTP_ACCEPT_LANGUAGE' => 'de,en-US;q=0.7,en;q=0.3'];
        foreach ($headers as $name => $value)
            $server['HTTP_' . strtoupper(str_replace('-', '_', $name))] = $value;
        $cookies = [];
        foreach (explode('; ', $server['HTTP_COOKIE'] ?? '') as $pair) {
            [$name, $value] = explode('=', $pair, 2) + [1 => ''];
            if ($name !== '')
                $cookies[$name] = urldecode($value);
        }
        return new self($query, $form, $cookies, $server, $body);
    }

    public function method(): string
    {
        $method = $this->server->string('REQUEST_METHOD', 'GET');
        if ($method === 'POST' && $this->form->has('_method'))
            return strtoupper($this->form->string('_method'));
        return $method;
    }

    public function path(): string
    {
        if ($this->path !== null)
            return $this->path;
        $uri = $this->server->string('REQUEST_URI', '/');
        if (false !== $at = strpos($uri, '?'))
            $uri = substr($uri, 0, $at);
        return $this->path = '/' . trim(rawurldecode($uri), '/');
    }

    public function wantsJson(): bool
    {
        foreach ($this->headers->accepted('accept') as $type)
            if (str_contains($type, 'json'))
                return true;
            elseif (str_starts_with($type, 'text/html'))
                return false;
        return str_starts_with($this->path(), '/api/');
    }

    public function json(): array
    {
        return $this->json ??= json_decode($this->body ?: '[]', true, 32, JSON_THROW_ON_ERROR);
    }

    public function input(string $key, mixed $default = null): mixed
    {
        return $this->form->get($key) ?? $this->query->get($key) ?? ($this->body !== '' ? $this->json()[$key] ?? null : null)
            ?? $default;
    }

    public function all(): array
    {
        $json = $this->body !== '' && $this->body[0] === '{' ? $this->json() : [];
        return $json + $this->form->all() + $this->query->all();
    }

    public function __get(string $name): mixed
    {
        return $this->attributes->get($name) ?? $this->input($name);
    }

    public function __isset(string $name): bool
    {
        return $this->__get($name) !== null;
    }
}
