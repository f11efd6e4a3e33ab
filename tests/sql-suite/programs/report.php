<?php
/* SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The ephpm developers
 *
 * Programs that run on both servers print a line for each step: its name and its result, or the
 * class of the error with its number. The suite compares the lines. Where the server is says the
 * environment: DB_SOCKET, DB_USER, DB_PASSWORD, DB_NAME.
 */
declare(strict_types=1);

error_reporting(E_ALL & ~E_DEPRECATED & ~E_USER_DEPRECATED);

function step(string $name, callable $run): void
{
    try {
        $result = $run();
    } catch (Throwable $e) {
        for ($cause = $e; $cause->getPrevious(); $cause = $cause->getPrevious()) {
        }
        $result = ['error' => $e::class, 'code' => $cause instanceof PDOException ? $cause->errorInfo : $e->getMessage()];
        if (is_array($result['code'])) {
            $result['code'] = [$result['code'][0], $result['code'][1]];
        }
    }
    $text = json_encode($result, JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES | JSON_PARTIAL_OUTPUT_ON_ERROR);
    echo $name, ': ', str_replace((string) getenv('DB_NAME'), '{db}', (string) $text), "\n";
}

/* The folder of a sample application. */
function application(string $name): string
{
    $folder = getenv('EPHPM_TEST_APPS') ?: '/srv/apps';
    if (!is_dir("$folder/$name/vendor")) {
        echo "skipped: there is no $name in $folder\n";
        exit(0);
    }
    return "$folder/$name";
}

/* Every program begins in an empty database. */
function clean(): void
{
    $db = new PDO('mysql:unix_socket=' . getenv('DB_SOCKET') . ';dbname=' . getenv('DB_NAME'), getenv('DB_USER'), (string) getenv('DB_PASSWORD'));
    $db->exec('SET FOREIGN_KEY_CHECKS = 0');
    foreach ($db->query('SHOW FULL TABLES')->fetchAll(PDO::FETCH_NUM) as [$name, $type]) {
        $db->exec(($type === 'VIEW' ? 'DROP VIEW' : 'DROP TABLE') . " `$name`");
    }
}

clean();
