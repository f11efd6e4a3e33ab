<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
declare(strict_types=1);

namespace Train\Orm;

final class Builder
{
    private array $columns = ['*'];
    private array $joins = [];
    private array $wheres = [];
    private array $orders = [];
    private array $groups = [];
    private array $bindings = [];
    private array $with = [];
    private ?int $limit = null;
    private ?int $offset = null;

    /** @param class-string<Model>|null $model */
    public function __construct(private Connection $connection, private string $table, private ?string $model = null)
    {
    }

    public function select(string ...$columns): static
    {
        $this->columns = $columns;
        return $this;
    }

    public function where(string|\Closure $column, mixed $operator = null, mixed $value = null, string $glue = 'and'): static
    {
        if ($column instanceof \Closure) {
            $inner = new self($this->connection, $this->table);
            $column($inner);
            if ($inner->wheres) {
                $this->wheres[] = [$glue, '(' . $inner->conditions() . ')'];
                array_push($this->bindings, ...$inner->bindings);
            }
            return $this;
        }
        if (func_num_args() === 2)
            [$operator, $value] = ['=', $operator];
        if ($value === null) {
            $this->wheres[] = [$glue, self::quote($column) . ($operator === '=' ? ' is null' : ' is not null')];
            return $this;
        }
        $this->wheres[] = [$glue, self::quote($column) . " $operator ?"];
        $this->bindings[] = $value;
        return $this;
    }

    public function orWhere(string|\Closure $column, mixed $operator = null, mixed $value = null): static
    {
        return func_num_args() === 2 ? $this->where($column, '=', $operator, 'or') : $this->where($column, $operator, $value, 'or');
    }

    public function whereIn(string $column, array $values): static
    {
        if (!$values) {
            $this->wheres[] = ['and', '0 = 1'];
            return $this;
        }
        $this->wheres[] = ['and', self::quote($column) . ' in (' . implode(', ', array_fill(0, count($values), '?')) . ')'];
        foreach ($values as $value)
            $this->bindings[] = $value;
        return $this;
    }

    public function join(string $table, string $left, string $right, string $kind = 'inner'): static
    {
        $this->joins[] = sprintf('%s join %s on %s = %s', $kind, self::quote($table), self::quote($left), self::quote($right));
        return $this;
    }

    public function orderBy(string $column, string $direction = 'asc'): static
    {
        $this->orders[] = self::quote($column) . ' ' . (strtolower($direction) === 'desc' ? 'desc' : 'asc');
        return $this;
    }

    public function groupBy(string ...$columns): static
    {
        $this->groups = array_merge($this->groups, array_map(self::quote(...), $columns));
        return $this;
    }

    public function limit(int $limit, int $offset = 0): static
    {
        $this->limit = $limit;
        $this->offset = $offset ?: null;
        return $this;
    }

    public function with(string ...$relations): static
    {
        array_push($this->with, ...$relations);
        return $this;
    }

    public function when(mixed $condition, \Closure $then): static
    {
        if ($condition)
            $then($this, $condition);
        return $this;
    }

    public function sql(): string
    {
        $sql = 'select ' . implode(', ', array_map(self::quote(...), $this->columns)) . ' from ' . self::quote($this->table);
        if ($this->joins)
            $sql .= ' ' . implode(' ', $this->joins);
        if ($this->wheres)
            $sql .= ' where ' . $this->conditions();
        if ($this->groups)
            $sql .= ' group by ' . implode(', ', $this->groups);
        if ($this->orders)
            $sql .= ' order by ' . implode(', ', $this->orders);
        if ($this->limit !== null)
            $sql .= " limit $this->limit" . ($this->offset !== null ? " offset $this->offset" : '');
        return $sql;
    }

    public function get(): Collection
    {
        $rows = $this->connection->select($this->sql(), $this->bindings);
        if ($this->model === null)
            return new Collection($rows);
        $models = [];
        foreach ($rows as $row)
            $models[] = $this->model::hydrate($row);
        foreach ($this->with as $relation)
            $this->load($models, $relation);
        return new Collection($models);
    }

    public function first(): mixed
    {
        return $this->limit(1)->get()->first();
    }

    public function find(int $id): mixed
    {
        return $this->where('id', $id)->first();
    }

    public function count(): int
    {
        $clone = clone $this;
        $clone->model = null;
        $clone->orders = [];
        $clone->with = [];
        $clone->columns = ['count(*) as n'];
        return (int) $clone->get()->first()['n'];
    }

    public function paginate(int $page, int $size): array
    {
        $total = $this->count();
        $items = $this->limit($size, ($page - 1) * $size)->get();
        return ['items' => $items, 'page' => $page, 'pages' => (int) ceil($total / $size), 'total' => $total];
    }

    public function insert(array $values): int
    {
        $sql = sprintf('insert into %s (%s) values (%s)', self::quote($this->table),
            implode(', ', array_map(self::quote(...), array_keys($values))), implode(', ', array_fill(0, count($values), '?')));
        $this->connection->execute($sql, $values);
        return $this->connection->lastId();
    }

    public function update(array $values): int
    {
        $set = implode(', ', array_map(static fn (string $c): string => self::quote($c) . ' = ?', array_keys($values)));
        return $this->connection->execute('update ' . self::quote($this->table) . " set $set"
            . ($this->wheres ? ' where ' . $this->conditions() : ''), [...array_values($values), ...$this->bindings]);
    }

    public function delete(): int
    {
        return $this->connection->execute('delete from ' . self::quote($this->table)
            . ($this->wheres ? ' where ' . $this->conditions() : ''), $this->bindings);
    }

    private function load(array $models, string $path): void
    {
        [$name, $rest] = explode('.', $path, 2) + [1 => null];
        if (!$models)
            return;
        $relation = $models[0]->$name();
        $relation->attach($models, $name, $rest === null ? [] : [$rest]);
    }

    private function conditions(): string
    {
        $sql = '';
        foreach ($this->wheres as $i => [$glue, $condition])
            $sql .= ($i ? " $glue " : '') . $condition;
        return $sql;
    }

    private static function quote(string $name): string
    {
        if ($name === '*' || str_contains($name, '('))
            return $name;
        if (false !== $as = stripos($name, ' as '))
            return self::quote(substr($name, 0, $as)) . ' as ' . self::quote(substr($name, $as + 4));
        return implode('.', array_map(
            static fn (string $part): string => $part === '*' ? $part : '"' . str_replace('"', '""', $part) . '"', explode('.', $name)));
    }
}
