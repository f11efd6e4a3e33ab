<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
declare(strict_types=1);

namespace Train\Routing;

use Train\Http\HttpException;

/** All routes become one regular expression per first segment, whose mark says which route matched. */
final class Router
{
    /** @var list<Route> */
    private array $routes = [];
    /** @var array<string, Route> */
    private array $names = [];
    /** @var array<string, array{string, array<string, array{Route, list<string>}>}> */
    private array $compiled = [];
    private array $groups = [];

    public function add(array $methods, string $path, array|\Closure $action, ?string $name = null, array $where = []): Route
    {
        $group = end($this->groups) ?: ['prefix' => '', 'name' => '', 'middleware' => []];
        $route = new Route($methods, $group['prefix'] . $path, $action, $name === null ? null : $group['name'] . $name, $where);
        $route->middleware(...$group['middleware']);
        $this->routes[] = $route;
        if ($route->name !== null)
            $this->names[$route->name] = $route;
        $this->compiled = [];
        return $route;
    }

    public function __call(string $method, array $arguments): Route
    {
        return $this->add([strtoupper($method)], ...$arguments);
    }

    public function group(string $prefix, string $name, array $middleware, \Closure $define): void
    {
        $outer = end($this->groups) ?: ['prefix' => '', 'name' => '', 'middleware' => []];
        $this->groups[] = ['prefix' => $outer['prefix'] . $prefix, 'name' => $outer['name'] . $name,
            'middleware' => [...$outer['middleware'], ...$middleware]];
        $define($this);
        array_pop($this->groups);
    }

    public function controller(string $class): void
    {
        $reflection = new \ReflectionClass($class);
        foreach ($reflection->getMethods(\ReflectionMethod::IS_PUBLIC) as $method) {
            foreach ($method->getAttributes(Get::class, \ReflectionAttribute::IS_INSTANCEOF) as $attribute) {
                $get = $attribute->newInstance();
                $this->add($get->methods, $get->path, [$class, $method->getName()], $get->name, $get->where);
            }
        }
    }

    /** @return array{Route, array<string, string>} */
    public function match(string $method, string $path): array
    {
        if ($this->compiled === [])
            $this->compile();
        $allowed = [];
        $first = strtok($path, '/') ?: '';
        foreach ([$first, '*'] as $bucket) {
            [$regex, $marks] = $this->compiled[$bucket] ?? ['', []];
            if ($marks === [] || !preg_match($regex, $path, $found))
                continue;
            foreach ($marks[$found['MARK']] as [$route, $parameters]) {
                if (!in_array($method, $route->methods, true)) {
                    array_push($allowed, ...$route->methods);
                    continue;
                }
                $values = [];
                $i = 0;
                foreach ($found as $key => $value)
                    if (is_int($key) && $key > 0 && $value !== '' && isset($parameters[$i]))
                        $values[$parameters[$i++]] = rawurldecode($value);
                return [$route, $values];
            }
        }
        if ($allowed)
            throw new HttpException(405, "$method is not allowed here", ['Allow' => implode(', ', array_unique($allowed))]);
        throw new HttpException(404, "Nothing at $path");
    }

    public function url(string $name, array $parameters = []): string
    {
        $route = $this->names[$name] ?? throw new \InvalidArgumentException("No route is called $name");
        $url = '';
        foreach ($route->tokens() as $token) {
            if (!isset($token[1])) {
                $url .= $token[0];
                continue;
            }
            if (!isset($parameters[$token[0]]))
                throw new \InvalidArgumentException("$name needs $token[0]");
            $value = (string) $parameters[$token[0]];
            if (!preg_match('#^' . $token[1] . '$#D', $value))
                throw new \InvalidArgumentException("$token[0] of $name is '$value'");
            $url .= rawurlencode($value);
            unset($parameters[$token[0]]);
        }
        return $parameters ? $url . '?' . http_build_query($parameters, '', '&', PHP_QUERY_RFC3986) : $url;
    }

    private function compile(): void
    {
        $buckets = [];
        foreach ($this->routes as $route) {
            $tokens = $route->tokens();
            $static = isset($tokens[0][1]) ? '' : $tokens[0][0];
            $first = strtok($static, '/') ?: '';
            $whole = count($tokens) === 1 || substr_count($static, '/') > 1;
            $regex = '';
            $names = [];
            foreach ($tokens as $token) {
                $regex .= isset($token[1]) ? '(' . $token[1] . ')' : preg_quote($token[0], '#');
                if (isset($token[1]))
                    $names[] = $token[0];
            }
            $buckets[$whole ? $first : '*'][$regex][] = [$route, $names];
        }
        foreach ($buckets as $bucket => $patterns) {
            $parts = $marks = [];
            $n = 0;
            foreach ($patterns as $regex => $routes) {
                $parts[] = "$regex(*MARK:" . ++$n . ')';
                $marks[(string) $n] = $routes;
            }
            $this->compiled[$bucket] = ['#^(?|' . implode('|', $parts) . ')$#Dx', $marks];
        }
    }
}
