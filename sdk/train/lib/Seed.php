<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
declare(strict_types=1);

namespace Train;

use Train\Model\Status;
use Train\Orm\{Builder, Connection};

/** The same content each time. */
final class Seed
{
    private const WORDS = ['river', 'stone', 'garden', 'winter', 'letter', 'bridge', 'light', 'harbour', 'quiet', 'Grüße',
        'engine', 'market', 'music', 'café', 'signal', 'forest', 'number', 'silver', 'window', 'paper', '<b>bold</b>', 'a & b'];
    private int $state = 7;

    public function __construct(private Connection $db)
    {
    }

    public function run(): void
    {
        foreach (['authors (id integer primary key, name text, email text, settings text, joined text)',
            'articles (id integer primary key, author_id int, title text, body text, price int, status text, published text, tags text)',
            'comments (id integer primary key, article_id int, text text, score int, written text)'] as $table)
            $this->db->execute("create table $table");
        $this->db->execute('create index by_article on comments (article_id)');
        $this->db->transaction(function (): void {
            for ($i = 1; $i <= 6; $i++)
                $this->into('authors', ['name' => ucfirst($this->word()) . ' ' . ucfirst($this->word()), 'email' => "a$i@shop.example",
                    'settings' => json_encode(['theme' => $i % 2 ? 'dark' : 'light', 'size' => $i]), 'joined' => "202$i-01-0$i 08:00:00"]);
            for ($i = 1; $i <= 40; $i++)
                $this->into('articles', ['author_id' => $i % 6 + 1, 'title' => ucfirst($this->text(4)),
                    'body' => '<p>' . $this->text(60) . "</p>\n<p>" . $this->text(40) . '</p>', 'price' => $this->next(9000) + 99,
                    'status' => Status::cases()[$i % 4 % 3]->value, 'published' => sprintf('2023-%02d-%02d 10:%02d:00', $i % 12 + 1, $i % 28 + 1, $i),
                    'tags' => json_encode([$this->word(), $this->word()])]);
            for ($i = 1; $i <= 120; $i++)
                $this->into('comments', ['article_id' => $i % 40 + 1, 'text' => $this->text(12), 'score' => $this->next(10),
                    'written' => sprintf('2024-%02d-%02d 12:00:00', $i % 12 + 1, $i % 28 + 1)]);
        });
    }

    private function into(string $table, array $values): void
    {
        (new Builder($this->db, $table))->insert($values);
    }

    private function next(int $below): int
    {
        $this->state = ($this->state * 1103515245 + 12345) & 0x7fffffff;
        return ($this->state >> 8) % $below;
    }

    private function word(): string
    {
        return self::WORDS[$this->next(count(self::WORDS))];
    }

    private function text(int $words): string
    {
        $text = '';
        while ($words-- > 0)
            $text .= ($text === '' ? '' : ' ') . $this->word();
        return $text;
    }
}
