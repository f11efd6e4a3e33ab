<?php
/* SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The ephpm developers
 *
 * One measurement of bench/db.py: php db.php WORK SECONDS. Where the server is says the environment,
 * as for tests/sql-suite. Prints JSON: operations, seconds. An answer that is not what it must be ends
 * it with status 1.
 */
declare(strict_types=1);

[, $work, $seconds] = $argv;
mysqli_report(MYSQLI_REPORT_ERROR | MYSQLI_REPORT_STRICT);

function connect(): mysqli
{
    $db = mysqli_init();
    $db->real_connect('localhost', getenv('DB_USER'), (string) getenv('DB_PASSWORD'), getenv('DB_NAME'), 0, getenv('DB_SOCKET'));
    return $db;
}

function must(bool $ok, string $what): void
{
    if (!$ok) {
        fwrite(STDERR, "wrong answer: $what\n");
        exit(1);
    }
}

const ROWS = 20000;

$works = [
    'fill' => function () {
        $db = connect();
        $db->query('DROP TABLE IF EXISTS bench');
        $db->query('CREATE TABLE bench (id INT AUTO_INCREMENT PRIMARY KEY, k INT NOT NULL, name VARCHAR(60) NOT NULL, body TEXT, price DECIMAL(10,2) NOT NULL, made DATETIME NOT NULL, KEY (k), KEY (name))');
        $db->query('CREATE TABLE IF NOT EXISTS bench_log (id BIGINT AUTO_INCREMENT PRIMARY KEY, at DATETIME NOT NULL, text VARCHAR(200) NOT NULL)');
        mt_srand(1);
        for ($i = 0; $i < ROWS; $i += 500) {
            $rows = [];
            for ($j = $i + 1; $j <= $i + 500; $j++) {
                $rows[] = sprintf("(%d, 'name %d', '%s', %d.%02d, '2024-01-%02d 10:00:00')", $j % 1000, $j, str_repeat("text $j ", 20), $j % 500, $j % 100, $j % 28 + 1);
            }
            $db->query('INSERT INTO bench (k, name, body, price, made) VALUES ' . implode(',', $rows));
        }
        return ROWS;
    },
    // A page of PHP: connects, asks ten times for a row by its key, goes.
    'connect and 10 selects' => function () {
        $db = connect();
        for ($i = 0; $i < 10; $i++) {
            $id = mt_rand(1, ROWS);
            $row = $db->query("SELECT id, name, price FROM bench WHERE id = $id")->fetch_row();
            must((int) $row[0] === $id && $row[1] === "name $id", "row $id");
        }
        $db->close();
        return 1;
    },
    'point select' => function () {
        static $db = null;
        $db ??= connect();
        for ($i = 0; $i < 100; $i++) {
            $id = mt_rand(1, ROWS);
            must($db->query("SELECT name FROM bench WHERE id = $id")->fetch_row()[0] === "name $id", "row $id");
        }
        return 100;
    },
    'select by index, 20 rows' => function () {
        static $db = null;
        $db ??= connect();
        $k = mt_rand(0, 999);
        must($db->query("SELECT id, name, body, price, made FROM bench WHERE k = $k ORDER BY id")->num_rows === 20, "k $k");
        return 1;
    },
    'report over all rows' => function () {
        static $db = null;
        $db ??= connect();
        $rows = $db->query('SELECT k % 10 AS g, COUNT(*) AS n, SUM(price) AS s, AVG(price) AS a FROM bench GROUP BY g ORDER BY g')->fetch_all();
        must(count($rows) === 10 && (int) $rows[0][1] === ROWS / 10, 'groups');
        return 1;
    },
    'insert and commit' => function () {
        static $db = null;
        $db ??= connect();
        $db->query("INSERT INTO bench_log (at, text) VALUES (NOW(), 'something that is worth a line')");
        must($db->affected_rows === 1 && $db->insert_id > 0, 'insert');
        return 1;
    },
    'transaction of 5 changes' => function () {
        static $db = null;
        $db ??= connect();
        $db->begin_transaction();
        for ($i = 0; $i < 5; $i++) {
            $db->query('UPDATE bench SET k = (k + 1) % 1000 WHERE id = ' . mt_rand(1, ROWS));
            must($db->affected_rows === 1, 'update');
        }
        $db->rollback();
        return 1;
    },
    'prepared select' => function () {
        static $db = null, $st = null, $id = 0;
        if ($st === null) {
            $db = connect();
            $st = $db->prepare('SELECT name, price FROM bench WHERE id = ?');
            $st->bind_param('i', $id);
        }
        for ($i = 0; $i < 50; $i++) {
            $id = mt_rand(1, ROWS);
            $st->execute();
            must($st->get_result()->fetch_row()[0] === "name $id", "row $id");
        }
        return 50;
    },
];
if (!isset($works[$work])) {
    echo json_encode(array_keys($works)), "\n";
    exit(0);
}
$run = $works[$work];
$begin = hrtime(true);
$end = $begin + (int) ($seconds * 1e9);
$n = 0;
do {
    $n += $run();
} while (hrtime(true) < $end);
echo json_encode(['operations' => $n, 'seconds' => (hrtime(true) - $begin) / 1e9]), "\n";
