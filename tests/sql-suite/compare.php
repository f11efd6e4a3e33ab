<?php
/* SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The ephpm developers
 *
 * Runs statements on two servers and compares what PHP sees of each:
 *
 *     php compare.php SOCKET-OF-THE-JUDGE SOCKET-OF-OURS OUR-USER OUR-PASSWORD OUR-DB KNOWN.txt [CASE.sql...]
 *
 * A case is a file of statements, each ended by ";" at a line's end; it begins in an empty database.
 * "-- generate NAME" in it stands for the statements that generate.php makes of that name. A line
 * "-- prepared" makes what follows run as prepared statements where that is possible, "-- text" ends
 * it. A result is: the rows as PHP values, names and kinds of the columns, affected rows, insert id,
 * number of warnings, or error number and SQLSTATE. Differences that known.txt explains do not count
 * as failures. The last line is "N passed, N failed"; the line before gives the share of equal ones.
 */
declare(strict_types=1);

require __DIR__ . '/generate.php';

/* MySQL 8's default. */
const MODE = 'ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION';

const KINDS = [
    1 => 'int', 2 => 'int', 3 => 'int', 8 => 'int', 9 => 'int', 13 => 'int', 16 => 'bit',
    4 => 'float', 5 => 'float', 0 => 'decimal', 246 => 'decimal',
    10 => 'date', 14 => 'date', 11 => 'time', 12 => 'datetime', 7 => 'datetime',
    6 => 'null', 245 => 'text', 249 => 'text', 250 => 'text', 251 => 'text', 252 => 'text',
    253 => 'text', 254 => 'text', 247 => 'text', 248 => 'text',
];

/* The two servers type what is NULL or a literal differently; nothing that PHP sees depends on it. */
function kind(object $field): string
{
    $kind = KINDS[$field->type] ?? "type {$field->type}";
    if ($kind === 'text' && $field->charsetnr === 63 && $field->type !== 245) {
        $kind = 'bytes';
    }
    return $kind;
}

function value(mixed $v): mixed
{
    if (is_float($v)) {
        return sprintf('%.13g', $v);
    }
    return is_string($v) && !mb_check_encoding($v, 'UTF-8') ? 'x' . bin2hex($v) : $v;
}

final class Server
{
    private mysqli $db;

    public function __construct(
        private string $socket,
        private string $user,
        private string $password,
        private string $name,
        private bool $judge,
    ) {
        $this->connect();
    }

    private function connect(): void
    {
        $this->db = mysqli_init();
        $this->db->options(MYSQLI_OPT_INT_AND_FLOAT_NATIVE, true);
        $this->db->real_connect('localhost', $this->user, $this->password, null, 0, $this->socket);
        $this->db->set_charset('utf8mb4');
    }

    /* An empty database and a session as after login. */
    public function fresh(): void
    {
        $this->db->close();
        $this->connect();
        if ($this->judge) {
            $this->db->query("DROP DATABASE IF EXISTS `{$this->name}`");
            $this->db->query("CREATE DATABASE `{$this->name}` DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci");
            $this->db->select_db($this->name);
            $this->session();
            return;
        }
        $this->db->select_db($this->name);
        $this->session();
        $this->db->query("SET FOREIGN_KEY_CHECKS = 0");
        $this->db->query("ALTER DATABASE `{$this->name}` DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci");
        $all = $this->db->query("SHOW FULL TABLES")->fetch_all();
        foreach ($all as [$table, $type]) {
            $this->db->query(($type === 'VIEW' ? 'DROP VIEW' : 'DROP TABLE') . " `$table`");
        }
        $this->db->query("SET FOREIGN_KEY_CHECKS = 1");
    }

    private function session(): void
    {
        $this->db->query("SET NAMES utf8mb4 COLLATE utf8mb4_unicode_ci");
        $this->db->query("SET SESSION time_zone = '+00:00', explicit_defaults_for_timestamp = 1, sql_mode = '" . MODE . "'");
    }

    /* The name of the judge's database and ours differ; statements say {db}. */
    private function text(string $sql): string
    {
        return str_replace('{db}', $this->name, $sql);
    }

    private function hidden(mixed $v): mixed
    {
        return is_string($v) ? str_replace($this->name, '{db}', $v) : $v;
    }

    public function run(string $sql, bool $prepared): array
    {
        try {
            return $prepared ? $this->execute($this->text($sql)) : $this->query($this->text($sql));
        } catch (mysqli_sql_exception $e) {
            $state = $e->getSqlState();
            if (in_array($e->getCode(), [2006, 2013, 2002], true)) {
                $lost = ['lost', $e->getMessage()];
                $this->connect();
                $this->db->select_db($this->name);
                return $lost;
            }
            return ['error', $e->getCode(), $state];
        }
    }

    private function rows(mysqli_result $result): array
    {
        $columns = array_map(
            fn(object $f) => [$this->hidden($f->name), kind($f)],
            $result->fetch_fields(),
        );
        $rows = [];
        foreach ($result->fetch_all() as $row) {
            $rows[] = array_map(fn($v) => $this->hidden(value($v)), $row);
        }
        return [$columns, $rows];
    }

    private function query(string $sql): array
    {
        $result = $this->db->query($sql);
        if ($result instanceof mysqli_result) {
            [$columns, $rows] = $this->rows($result);
            $result->free();
            return ['rows', $columns, $rows, $this->db->warning_count];
        }
        return ['ok', $this->db->affected_rows, $this->db->insert_id, $this->db->warning_count];
    }

    private function execute(string $sql): array
    {
        $statement = $this->db->prepare($sql);
        try {
            $statement->execute();
            $result = $statement->get_result();
            if ($result instanceof mysqli_result) {
                [$columns, $rows] = $this->rows($result);
                return ['rows', $columns, $rows, 0];
            }
            return ['ok', $statement->affected_rows, $statement->insert_id, 0];
        } finally {
            $statement->close();
        }
    }
}

/* [[statement, prepared], ...] */
function statements(string $file): array
{
    $out = [];
    $text = '';
    $prepared = false;
    foreach (file($file) as $line) {
        if ($text === '' && preg_match('/^-- generate (\w+)/', $line, $m)) {
            foreach (generate($m[1]) as $sql) {
                $out[] = [$sql, $prepared];
            }
            continue;
        }
        if ($text === '' && preg_match('/^-- (prepared|text)$/', trim($line), $m)) {
            $prepared = $m[1] === 'prepared';
            continue;
        }
        if ($text === '' && (trim($line) === '' || str_starts_with($line, '--'))) {
            continue;
        }
        $text .= $line;
        if (str_ends_with(rtrim($line), ';')) {
            $out[] = [substr(rtrim($text), 0, -1), $prepared];
            $text = '';
        }
    }
    return $out;
}

/* Columns whose kinds differ though all their values are equal NULLs say nothing to PHP. */
function same(array $a, array $b): bool
{
    if ($a[0] !== 'rows' || $b[0] !== 'rows') {
        return $a === $b;
    }
    if ($a[2] !== $b[2] || $a[3] !== $b[3] || count($a[1]) !== count($b[1])) {
        return false;
    }
    foreach ($a[1] as $i => [$name, $kind]) {
        [$other_name, $other_kind] = $b[1][$i];
        if (strcasecmp((string) $name, (string) $other_name) !== 0) {
            return false;
        }
        if ($kind !== $other_kind && array_filter(array_column($a[2], $i), fn($v) => $v !== null)) {
            return false;
        }
    }
    return true;
}

/* known.txt: "case | part of the statement | reason" */
function known(string $file): array
{
    $rows = [];
    foreach (file($file) as $n => $line) {
        if (trim($line) === '' || $line[0] === '#') {
            continue;
        }
        $parts = array_map('trim', explode(' | ', rtrim($line), 3));
        if (count($parts) !== 3 || in_array('', $parts, true)) {
            fwrite(STDERR, "$file:" . ($n + 1) . ": not \"case | statement | reason\"\n");
            exit(2);
        }
        $rows[] = $parts;
    }
    return $rows;
}

function show(array $result): string
{
    return mb_strimwidth(json_encode($result, JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES | JSON_PARTIAL_OUTPUT_ON_ERROR), 0, 400, '...');
}

[, $judge_socket, $socket, $user, $password, $name, $known_file] = $argv;
mysqli_report(MYSQLI_REPORT_ERROR | MYSQLI_REPORT_STRICT);
$judge = new Server($judge_socket, 'root', '', 'sqlsuite', true);
$ours = new Server($socket, $user, $password, $name, false);
$known = known($known_file);
$equal = $explained = $different = 0;
foreach (array_slice($argv, 7) as $file) {
    $case = basename($file, '.sql');
    $judge->fresh();
    $ours->fresh();
    $begin = [$equal, $explained, $different];
    foreach (statements($file) as [$sql, $prepared]) {
        $want = $judge->run($sql, $prepared);
        $got = $ours->run($sql, $prepared);
        if (same($want, $got)) {
            $equal++;
            continue;
        }
        foreach ($known as [$k_case, $k_text]) {
            if ($k_case === $case && str_contains($sql, $k_text)) {
                $explained++;
                continue 2;
            }
        }
        $different++;
        echo "$case: " . ($prepared ? '(prepared) ' : '') . preg_replace('/\s+/', ' ', mb_strimwidth($sql, 0, 600, '...')), "\n",
            '    judge ', show($want), "\n    ours  ", show($got), "\n";
    }
    printf("%-24s %d equal, %d explained, %d different\n", $case, $equal - $begin[0], $explained - $begin[1], $different - $begin[2]);
}
$all = $equal + $explained + $different;
printf("%d of %d statements equal (%.2f %%), %d differences explained\n", $equal, $all, $all ? 100 * $equal / $all : 0, $explained);
printf("%d passed, %d failed\n", $equal + $explained, $different + ($all ? 0 : 1));
exit($different || !$all ? 1 : 0);
