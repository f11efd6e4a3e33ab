<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
declare(strict_types=1);

namespace Train\Routing;

final class Route
{
    private ?array $tokens = null;
    private array $middleware = [];

    public function __construct(public readonly array $methods, public readonly string $path,
        public readonly array|\Closure $action, public readonly ?string $name = null, private array $where = [])
    {
    }

    public function middleware(string ...$names): static
    {
        array_push($this->middleware, ...$names);
        return $this;
    }

    public function stack(): array
    {
        return $this->middleware;
    }

    public function where(string $parameter, string $pattern): static
    {
        $this->where[$parameter] = $pattern;
        $this->tokens = null;
        return $this;
    }

    /** @return list<array{0: string, 1?: string}> text, or parameter and pattern */
    public function tokens(): array
    {
        if ($this->tokens !== null)
            return $this->tokens;
        $tokens = [];
        foreach (preg_split('/(\{\w+\??\})/', $this->path, -1, PREG_SPLIT_DELIM_CAPTURE | PREG_SPLIT_NO_EMPTY) as $part) {
            if ($part[0] === '{') {
                $name = trim($part, '{?}');
                $tokens[] = [$name, $this->where[$name] ?? '[^/]+'];
            } else {
                $tokens[] = [$part];
            }
        }
        return $this->tokens = $tokens;
    }
}
