<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
declare(strict_types=1);

// pdo_sqlite without a mapper in between: prepared statements, fetch modes, transactions, aggregates, full rows.
return static fn (): Closure => static function (): string {
    $db = new PDO('sqlite::memory:', null, null, [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION]);
    $db->exec('create table users (id integer primary key, name text, age int, score real); create table posts (id integer primary key, user_id int, title text, body text)');
    $insert = $db->prepare('insert into users (name, age, score) values (:name, :age, :score)');
    $db->beginTransaction();
    for ($i = 0; $i < 80; $i++)
        $insert->execute([':name' => "user $i", ':age' => 18 + $i * 7 % 50, ':score' => $i / 3]);
    $post = $db->prepare('insert into posts (user_id, title, body) values (?, ?, ?)');
    for ($i = 0; $i < 160; $i++)
        $post->execute([$i % 80 + 1, "title $i", str_repeat("body $i ", 20)]);
    $db->commit();
    $out = [];
    $one = $db->prepare('select * from users where id = ?');
    foreach (range(1, 60) as $id) {
        $one->execute([$id]);
        $row = $one->fetch(PDO::FETCH_ASSOC);
        $out[] = "$row[name] $row[age]";
        $one->execute([$id]);
        $out[] = $one->fetch(PDO::FETCH_OBJ)->name . count($one->fetchAll());
    }
    foreach ($db->query('select u.name, count(p.id) as n, max(length(p.body)) as longest from users u join posts p on p.user_id = u.id group by u.id having n > 1 order by u.name limit 20') as $row)
        $out[] = implode(',', array_unique($row));
    $out[] = $db->query('select age, name from users order by id limit 30')->fetchAll(PDO::FETCH_KEY_PAIR);
    $out[] = $db->query('select age, name from users order by id limit 30')->fetchAll(PDO::FETCH_GROUP | PDO::FETCH_COLUMN);
    $db->sqliteCreateFunction('shout', static fn (string $s): string => strtoupper($s) . '!', 1);
    $out[] = $db->query("select shout(name) from users where name like '%7%'")->fetchAll(PDO::FETCH_COLUMN);
    try {
        $db->exec('insert into users (id) values (1)');
    } catch (PDOException $e) {
        $out[] = $e->getCode();
    }
    return json_encode($out, JSON_THROW_ON_ERROR);
};
