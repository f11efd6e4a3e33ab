<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
declare(strict_types=1);

namespace Train\Middleware;

use Train\Container\Container;
use Train\Http\{Request, Response};

final class Pipeline
{
    private array $stages = [];

    public function __construct(private Container $container)
    {
    }

    public function through(iterable $stages): static
    {
        $clone = clone $this;
        foreach ($stages as $stage)
            $clone->stages[] = $stage;
        return $clone;
    }

    public function run(Request $request, callable $core): Response
    {
        $chain = array_reduce(array_reverse($this->stages), $this->carry(...), $core);
        return $chain($request);
    }

    private function carry(callable $next, string|Middleware $stage): \Closure
    {
        return function (Request $request) use ($next, $stage): Response {
            if (is_string($stage)) {
                [$class, $argument] = array_pad(explode(':', $stage, 2), 2, null);
                $stage = $this->container->get($class);
                if ($argument !== null && method_exists($stage, 'with'))
                    $stage = $stage->with(...explode(',', $argument));
            }
            return $stage->handle($request, $next);
        };
    }
}
