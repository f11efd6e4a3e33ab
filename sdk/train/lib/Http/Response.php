<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
declare(strict_types=1);

namespace Train\Http;

class Response
{
    protected const REASONS = [200 => 'OK', 201 => 'Created', 204 => 'No Content', 302 => 'Found', 304 => 'Not Modified',
        400 => 'Bad Request', 401 => 'Unauthorized', 404 => 'Not Found', 405 => 'Method Not Allowed',
        422 => 'Unprocessable Entity', 429 => 'Too Many Requests', 500 => 'Internal Server Error'];

    public readonly HeaderBag $headers;

    public function __construct(protected string $content = '', protected int $status = 200, array $headers = [])
    {
        $this->headers = new HeaderBag($headers + ['Content-Type' => 'text/html; charset=UTF-8']);
    }

    public function content(): string
    {
        return $this->content;
    }

    public function withContent(string $content): static
    {
        $clone = clone $this;
        $clone->content = $content;
        return $clone;
    }

    public function status(): int
    {
        return $this->status;
    }

    public function send(): void
    {
        http_response_code($this->status);
        foreach ($this->headers as $name => $values)
            foreach ($values as $i => $value)
                header("$name: $value", $i === 0);
        echo $this->content;
    }

    public function __toString(): string
    {
        return sprintf('HTTP/1.1 %d %s', $this->status, static::REASONS[$this->status] ?? 'Unknown')
            . "\r\n" . $this->headers . "\r\n" . $this->content;
    }
}
