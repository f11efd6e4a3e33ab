<?php
/* SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The ephpm developers
 *
 * Statements by the thousand for compare.php, the same ones each time: every function over a list of
 * arguments that each is interesting for, and random expressions and queries of a small grammar.
 */
declare(strict_types=1);

const TEXTS = ["''", "'a'", "'abc'", "'ABC'", "'  x y  '", "'äöü'", "'日本語'", "'10'", "'1.5abc'", "'-7'", "'a_b%c'", "'2024-02-29'", 'NULL'];
const NUMBERS = ['0', '1', '-1', '7', '255', '1000000', '2147483648', '-9223372036854775808', '9223372036854775807', '0.5', '1.005', '-2.50', '1e3', '1.5e-2', "'12abc'", 'NULL'];
const DATES = ["'2024-02-29'", "'2024-12-31 23:59:59'", "'1999-01-01 00:00:00'", "'2000-01-31'", "'2024-02-30'", "'0000-00-00'", "'20240315'", "'2024-3-5 4:5:6'", "'10:11:12'", "'2024-06-15 12:30:45.123456'", "'x'", 'NULL'];
const JSONS = ["'{\"a\": 1, \"b\": [1, 2, {\"c\": \"x\"}]}'", "'[1, \"two\", null, true, 1.5]'", "'\"text\"'", "'{}'", "'[]'", "'12'", 'NULL'];

/* name => lists of arguments, each a list of choices */
const FUNCTIONS = [
    'strings' => [
        'LENGTH' => [TEXTS], 'CHAR_LENGTH' => [TEXTS], 'BIT_LENGTH' => [TEXTS], 'LOWER' => [TEXTS], 'UPPER' => [TEXTS],
        'REVERSE' => [TEXTS], 'TRIM' => [TEXTS], 'LTRIM' => [TEXTS], 'RTRIM' => [TEXTS], 'ASCII' => [TEXTS],
        'ORD' => [TEXTS], 'HEX' => [TEXTS], 'QUOTE' => [TEXTS], 'SOUNDEX' => [["'Robert'", "'Tymczak'", "''", "'a b'", 'NULL']],
        'MD5' => [TEXTS], 'SHA1' => [TEXTS], 'CRC32' => [TEXTS], 'TO_BASE64' => [TEXTS],
        'FROM_BASE64' => [["'YWJj'", "'YQ=='", "'!'", "''", 'NULL']],
        'UNHEX' => [["'4142'", "'4'", "'zz'", "''", 'NULL']],
        'SHA2' => [["'abc'", "''", 'NULL'], ['224', '256', '384', '512', '0', '1', 'NULL']],
        'LEFT' => [TEXTS, ['0', '1', '2', '-1', '100', 'NULL']], 'RIGHT' => [TEXTS, ['0', '1', '2', '-1', '100', 'NULL']],
        'REPEAT' => [["'ab'", "''", "'é'", 'NULL'], ['0', '1', '3', '-1', 'NULL']],
        'SPACE' => [['0', '3', '-1', 'NULL']],
        'SUBSTRING' => [["'abcdef'", "'日本語テキスト'", "''", 'NULL'], ['0', '1', '3', '-2', '-10', '10', 'NULL'], ['0', '1', '2', '-1', '100', 'NULL']],
        'SUBSTR' => [["'abcdef'", "'äöü'"], ['0', '1', '3', '-2', '10']],
        'SUBSTRING_INDEX' => [["'www.mysql.com'", "'abc'", "''", 'NULL'], ["'.'", "'w'", "''", "'xx'"], ['1', '2', '-1', '-2', '0', '10']],
        'LPAD' => [["'hi'", "''", "'日'", 'NULL'], ['4', '1', '0', '-1'], ["'??'", "'ab'", "''"]],
        'RPAD' => [["'hi'", "''", "'日'", 'NULL'], ['4', '1', '0', '-1'], ["'??'", "'ab'", "''"]],
        'LOCATE' => [["'b'", "'B'", "''", "'xyz'", "'語'"], ["'abcb'", "''", "'日本語'", 'NULL']],
        'INSTR' => [["'abcb'", "''", "'日本語'", 'NULL'], ["'b'", "'B'", "''", "'語'"]],
        'REPLACE' => [["'www.a.www'", "''", "'AaA'", 'NULL'], ["'w'", "'a'", "''", "'x'"], ["'Ww'", "''", 'NULL']],
        'INSERT' => [["'Quadratic'", "''"], ['3', '-1', '0', '10'], ['4', '100', '-1'], ["'What'", "''"]],
        'CONCAT' => [TEXTS, ["'x'", '1', '1.50', '0.5e1', 'NULL']],
        'CONCAT_WS' => [["','", "''", 'NULL'], ["'a'", 'NULL', '1'], ["'b'", 'NULL', '2.50'], ["'c'", "''"]],
        'FIELD' => [["'b'", "'B'", '2', 'NULL', "'x'"], ["'a'", '1'], ["'b'", '2']],
        'ELT' => [['1', '2', '3', '0', '-1', 'NULL'], ["'a'", '1'], ["'b'", 'NULL']],
        'FIND_IN_SET' => [["'b'", "'B'", "''", "'a,b'", 'NULL'], ["'a,b,c'", "''", "'b'", 'NULL']],
        'STRCMP' => [["'a'", "'A'", "'b'", "''", 'NULL'], ["'a'", "'a '", "'b'"]],
        'CHAR' => [['65', '77.5', "'66'", 'NULL', '256'], ['67', "'x'"]],
        'FORMAT' => [['1234567.891', '0', '-1234.5', "'12abc'", 'NULL', '1e10'], ['0', '2', '4', '-1', '40']],
        'BIN' => [['0', '12', '-1', "'7'", 'NULL']], 'OCT' => [['0', '12', '-1', "'9'", 'NULL']],
        'CONV' => [["'a'", "'ff'", '10', '-17', "'z'", 'NULL'], ['16', '10', '36', '1'], ['2', '10', '-18', '37']],
        'EXPORT_SET' => [['5', '6', '0'], ["'Y'"], ["'N'"], ["','", "''"], ['4', '8']],
        'MAKE_SET' => [['1', '5', '0', 'NULL'], ["'a'", 'NULL'], ["'b'"], ["'c'"]],
        'INET_ATON' => [["'10.0.5.9'", "'255.255.255.255'", "'1.2'", "'a'", 'NULL']],
        'INET_NTOA' => [['167773449', '0', '-1', '4294967295', '4294967296', 'NULL']],
    ],
    'numbers' => [
        'ABS' => [NUMBERS], 'SIGN' => [NUMBERS], 'CEIL' => [NUMBERS], 'FLOOR' => [NUMBERS], 'ROUND' => [NUMBERS],
        'SQRT' => [NUMBERS], 'HEX' => [NUMBERS], 'BIT_COUNT' => [['0', '1', '255', '-1', 'NULL', "'7'"]],
        'LN' => [NUMBERS], 'LOG2' => [NUMBERS], 'LOG10' => [NUMBERS], 'LOG' => [NUMBERS],
        'EXP' => [['0', '1', '-1', '2.5', 'NULL']], 'SIN' => [['0', '1', '-1.5', 'NULL']], 'COS' => [['0', '1', '-1.5', 'NULL']],
        'TAN' => [['0', '1', '-1.5']], 'ATAN' => [['0', '1', '-1.5']], 'ASIN' => [['0', '1', '2']], 'ACOS' => [['0', '1', '2']],
        'COT' => [['1', '2']], 'DEGREES' => [['0', '1', '3.14159']], 'RADIANS' => [['0', '180', '90.5']],
        'POW' => [['2', '0', '-2', '1.5', 'NULL'], ['3', '0', '-1', '0.5', 'NULL']],
        'MOD' => [['10', '-10', '5.5', '0', 'NULL', "'7x'"], ['3', '-3', '0', '2.5', 'NULL']],
        'TRUNCATE' => [['1.999', '-1.999', '122', '12.345', 'NULL', '1e3'], ['0', '1', '2', '-2', 'NULL']],
        'ROUND' . "\0" => [['1.298', '-1.58', '150.000', '23.298', '2.5', '-2.5', '25', '1e3', "'1.55'", 'NULL'], ['0', '1', '2', '-1', '-2', 'NULL']],
        'ATAN2' => [['0', '1', '-2'], ['1', '2']],
        'GREATEST' => [['1', '2.5', "'b'", 'NULL'], ['3', '0.1', "'a'"], ['2', "'10'"]],
        'LEAST' => [['1', '2.5', "'b'", 'NULL'], ['3', '0.1', "'a'"], ['2', "'10'"]],
        'INTERVAL' => [['23', '5', '0', 'NULL'], ['1'], ['15'], ['17', '30']],
        'NULLIF' => [['1', "'a'", 'NULL', '1.50'], ['1', "'A'", '1.5']], 'IFNULL' => [['NULL', '1', "'a'", '1.50'], ['0', "'b'", '2.5', 'NULL']],
        'COALESCE' => [['NULL', '1'], ['NULL', '2.50', "'x'"], ['3']], 'ISNULL' => [['NULL', '0', "''"]],
        'IF' => [['1', '0', 'NULL', "'a'", '0.4', "'1x'"], ['1', "'yes'", '2.50'], ['0', "'no'", 'NULL']],
    ],
    'dates' => [
        'DATE' => [DATES], 'TIME' => [DATES], 'YEAR' => [DATES], 'MONTH' => [DATES], 'DAY' => [DATES], 'HOUR' => [DATES],
        'MINUTE' => [DATES], 'SECOND' => [DATES], 'MICROSECOND' => [DATES], 'QUARTER' => [DATES], 'DAYOFWEEK' => [DATES],
        'WEEKDAY' => [DATES], 'DAYOFYEAR' => [DATES], 'DAYNAME' => [DATES], 'MONTHNAME' => [DATES], 'LAST_DAY' => [DATES],
        'TO_DAYS' => [DATES], 'TO_SECONDS' => [DATES], 'UNIX_TIMESTAMP' => [["'2024-02-29'", "'2024-12-31 23:59:59'", "'1970-01-01 00:00:00'", "'2024-06-15 12:30:45.123456'"]],
        'WEEK' => [["'2008-02-20'", "'2008-12-31'", "'2024-01-01'", "'2000-01-01'", 'NULL'], ['0', '1', '2', '3', '4', '5', '6', '7']],
        'YEARWEEK' => [["'1987-01-01'", "'2024-12-30'", "'2000-01-01'"], ['0', '1', '3']], 'WEEKOFYEAR' => [["'2008-02-20'", "'2024-12-30'"]],
        'FROM_UNIXTIME' => [['0', '1447430881', '1447430881.5', '-1', 'NULL', "'1447430881'"]],
        'FROM_DAYS' => [['730669', '0', '366', 'NULL']], 'MAKEDATE' => [['2011', '2012', '70'], ['31', '366', '0', '400']],
        'MAKETIME' => [['12', '-1', '838'], ['15', '60'], ['30', '1.5']], 'SEC_TO_TIME' => [['2378', '-5', '0', '3020399', '1.5', 'NULL']],
        'TIME_TO_SEC' => [["'22:23:00'", "'00:39:38'", "'-01:00:00'", "'100:00:00'", 'NULL']],
        'DATEDIFF' => [["'2007-12-31 23:59:59'", "'2024-02-29'", 'NULL'], ["'2007-12-30'", "'2025-01-01 01:00:00'"]],
        'TIMEDIFF' => [["'2000-01-01 00:00:00'", "'10:11:12'"], ["'2000-01-01 00:00:01'", "'10:11:13'"]],
        'ADDTIME' => [["'2007-12-31 23:59:59.999999'", "'01:00:00.5'"], ["'1 1:1:1.000002'", "'02:00:00.5'"]],
        'SUBTIME' => [["'2007-12-31 23:59:59'", "'01:00:00.5'"], ["'1:1:1.000002'", "'02:00:00'"]],
        'PERIOD_ADD' => [['200801', '9912'], ['2', '-13']], 'PERIOD_DIFF' => [['200802', '9912'], ['200703']],
        'ADDDATE' => [["'2008-01-02'", "'2008-02-28 10:00:00'"], ['31', '-1', 'NULL']], 'SUBDATE' => [["'2008-01-02'"], ['31', '-1']],
        'TIMESTAMP' => [["'2003-12-31'", "'2003-12-31 12:00:00'"], ["'12:00:00'", "'25:00:00'"]],
        'DATE_FORMAT' => [["'2009-10-04 22:23:00'", "'2007-01-01 00:00:00.000123'", "'1999-12-31'", "'2024-02-29 13:05:09'", 'NULL'],
            ["'%W %M %Y'", "'%H:%i:%s'", "'%D %y %a %d %m %b %j'", "'%H %k %I %r %T %S %w'", "'%X %V'", "'%x %v'", "'%U %u'", "'%f %p %h %l %e %c'", "'%%%q'", "''"]],
        'TIME_FORMAT' => [["'100:00:00'", "'13:05:09'"], ["'%H %k %h %I %l'", "'%T %p %f'"]],
        'STR_TO_DATE' => [["'01,5,2013'", "'May 1, 2013'", "'2013-05-01 10:11:12'", "'9:30:17'", "'abc'"],
            ["'%d,%m,%Y'", "'%M %d,%Y'", "'%Y-%m-%d %H:%i:%s'", "'%h:%i:%s'", "'abc'"]],
        'CONVERT_TZ' => [["'2004-01-01 12:00:00'", 'NULL'], ["'+00:00'", "'-05:30'"], ["'+10:00'", "'bad'"]],
    ],
    'json' => [
        'JSON_VALID' => [[...JSONS, "'{bad'", "''", '1']], 'JSON_TYPE' => [JSONS], 'JSON_LENGTH' => [JSONS], 'JSON_DEPTH' => [JSONS],
        'JSON_KEYS' => [JSONS], 'JSON_UNQUOTE' => [["'\"abc\"'", "'abc'", "'\"a\\\\tb\"'", 'NULL']], 'JSON_QUOTE' => [["'abc'", "'a\"b'", 'NULL']],
        'JSON_EXTRACT' => [JSONS, ["'$'", "'$.a'", "'$.b[1]'", "'$.b[2].c'", "'$[0]'", "'$[*]'", "'$.*'", "'$.x'"]],
        'JSON_CONTAINS' => [["'{\"a\": 1, \"b\": 2}'", "'[1, 2, 3]'"], ["'1'", "'{\"a\": 1}'", "'[1, 3]'"]],
        'JSON_CONTAINS_PATH' => [["'{\"a\": 1, \"c\": {\"d\": 4}}'"], ["'one'", "'all'"], ["'$.a'", "'$.c.d'", "'$.x'"], ["'$.e'", "'$.c'"]],
        'JSON_SET' => [["'{\"a\": 1}'", "'[1, 2]'"], ["'$.a'", "'$.c'", "'$[1]'", "'$[5]'"], ['10', "'x'", 'NULL', '1.5']],
        'JSON_INSERT' => [["'{\"a\": 1}'", "'[1, 2]'"], ["'$.a'", "'$.c'", "'$[5]'"], ['10', "'x'"]],
        'JSON_REPLACE' => [["'{\"a\": 1}'", "'[1, 2]'"], ["'$.a'", "'$.c'", "'$[1]'"], ['10', "'x'"]],
        'JSON_REMOVE' => [["'{\"a\": 1, \"b\": [1, 2]}'"], ["'$.a'", "'$.b[0]'", "'$.x'"]],
        'JSON_ARRAY' => [['1', "'a'", 'NULL', '1.50'], ["'b'", '2']], 'JSON_OBJECT' => [["'k'", '1'], ['1', "'v'", 'NULL', '2.50']],
        'JSON_MERGE_PRESERVE' => [["'[1, 2]'", "'{\"a\": 1}'"], ["'[true]'", "'{\"a\": 3, \"b\": 4}'"]],
        'JSON_MERGE_PATCH' => [["'[1, 2]'", "'{\"a\": 1, \"c\": 3}'"], ["'[true]'", "'{\"a\": null, \"b\": 4}'"]],
        'JSON_ARRAY_APPEND' => [["'[\"a\", [\"b\", \"c\"], \"d\"]'"], ["'$[1]'", "'$[0]'", "'$'"], ['1', "'x'"]],
        'JSON_SEARCH' => [["'[\"abc\", {\"x\": \"abc\"}]'"], ["'one'", "'all'"], ["'abc'", "'a%'", "'zz'"]],
    ],
];

/* The products of lists of choices. */
function products(array $lists): iterable
{
    if (!$lists) {
        yield [];
        return;
    }
    $first = array_shift($lists);
    foreach ($first as $choice) {
        foreach (products($lists) as $rest) {
            yield [$choice, ...$rest];
        }
    }
}

function functions(string $group): iterable
{
    foreach (FUNCTIONS[$group] as $name => $arguments) {
        foreach (products($arguments) as $values) {
            yield 'SELECT ' . rtrim($name, "\0") . '(' . implode(', ', $values) . ') AS r';
        }
    }
}

function operators(): iterable
{
    $values = ['0', '1', '-3', '2.50', '1e1', "'1'", "'abc'", "'2x'", "''", 'NULL', '9223372036854775807'];
    foreach (['+', '-', '*', '/', 'DIV', '%', '=', '<>', '<', '>=', '<=>', 'AND', 'OR', 'XOR', '&', '|', '^', '<<', '>>'] as $op) {
        foreach (products([$values, $values]) as [$a, $b]) {
            if ($a[0] === '9' || $b[0] === '9') {
                if (!in_array($op, ['+', '-', '=', '<', '&', '/', 'DIV', '%'], true) || $a !== $b && mt_rand(0, 1)) {
                    continue;
                }
            }
            yield "SELECT $a $op $b AS r";
        }
    }
    foreach ($values as $a) {
        foreach (['-(%s)', '~(%s)', 'NOT (%s)', '!(%s)', '(%s) IS TRUE', '(%s) IS NOT TRUE', '(%s) IS FALSE', '(%s) IS UNKNOWN', '(%s) IS NULL', '(%s) BETWEEN 0 AND 2', "(%s) IN (1, 'abc', 2.5)", "(%s) NOT IN (1, NULL)", "CASE %s WHEN 1 THEN 'one' WHEN 'abc' THEN 'text' ELSE 'other' END"] as $form) {
            yield 'SELECT ' . sprintf($form, $a) . ' AS r';
        }
        foreach (['SIGNED', 'UNSIGNED', 'CHAR', 'CHAR(2)', 'DECIMAL(10,2)', 'DECIMAL', 'BINARY', 'DATE', 'DATETIME', 'TIME', 'DOUBLE'] as $type) {
            yield "SELECT CAST($a AS $type) AS r";
        }
    }
    foreach (["'a'", "'A'", "'abc'", "'a_c'", "'a%c'", "'ä'", "'a '", "''", 'NULL'] as $text) {
        foreach (["'a'", "'a%'", "'_b_'", "'a\\\\_c'", "'%C'", "'Ä'", "''", "'%'", "'a|%c' ESCAPE '|'"] as $pattern) {
            yield "SELECT $text LIKE $pattern AS r";
        }
        foreach (["'^a'", "'b.'", "'[a-c]+$'", "'A'", "'x|c'", "'^$'"] as $pattern) {
            yield "SELECT $text REGEXP $pattern AS r";
        }
        foreach (["'a'", "'A'", "'á'", "'a '", "'b'"] as $other) {
            yield "SELECT $text = $other AS e, $text < $other AS l, $text <=> $other AS n, BINARY $text = $other AS b";
        }
    }
}

function intervals(): iterable
{
    $units = ['MICROSECOND', 'SECOND', 'MINUTE', 'HOUR', 'DAY', 'WEEK', 'MONTH', 'QUARTER', 'YEAR'];
    foreach (["'2024-01-31'", "'2024-02-29 23:59:59'", "'1999-12-31 12:00:00'", 'NULL', "'bad'"] as $date) {
        foreach ($units as $unit) {
            foreach (['1', '-1', '13', "'2'", '1.5'] as $n) {
                yield "SELECT DATE_ADD($date, INTERVAL $n $unit) AS r";
            }
            yield "SELECT $date - INTERVAL 1 $unit AS r";
            yield "SELECT EXTRACT($unit FROM $date) AS r";
            yield "SELECT TIMESTAMPADD($unit, 3, $date) AS r";
            yield "SELECT TIMESTAMPDIFF($unit, $date, '2025-03-01 01:02:03') AS r";
        }
        foreach (['YEAR_MONTH' => "'1-2'", 'DAY_HOUR' => "'1 10'", 'DAY_MINUTE' => "'1 1:1'", 'DAY_SECOND' => "'1 1:1:1'", 'HOUR_MINUTE' => "'-1:10'", 'HOUR_SECOND' => "'1:1:1'", 'MINUTE_SECOND' => "'1:30'", 'SECOND_MICROSECOND' => "'1.999'"] as $unit => $n) {
            yield "SELECT DATE_ADD($date, INTERVAL $n $unit) AS r";
        }
    }
}

/* Random expressions over the columns of case "random" (see cases/random.sql). */
final class Grammar
{
    public function __construct(private int $state)
    {
    }

    /* Of our own, so that every version of PHP makes the same statements. */
    private function below(int $n): int
    {
        $this->state = ($this->state * 1103515245 + 12345) & 0x7fffffff;
        return intdiv($this->state, 65536) % $n;
    }

    private function pick(array $choices): string
    {
        return $choices[$this->below(count($choices))];
    }

    public function number(int $depth): string
    {
        if ($depth <= 0) {
            return $this->pick(['a.i', 'a.d', 'a.u', 'a.s', '3', '0', '-2', '1.50', 'NULL', 'a.b', 'a.id']);
        }
        $x = $this->number($depth - 1);
        $y = $this->number($depth - 2);
        return $this->pick([
            "($x + $y)", "($x - $y)", "($x * $y)", "($x / 4)", "($x DIV 3)", "($x % 5)", "-($x)", "ABS($x)",
            "IFNULL($x, $y)", "COALESCE($x, 1)", "IF({$this->condition($depth - 2)}, $x, $y)", "GREATEST($x, $y)",
            "ROUND($x, 1)", "FLOOR($x)", "CHAR_LENGTH({$this->text($depth - 1)})", "SIGN($x)",
            "CASE WHEN {$this->condition($depth - 2)} THEN $x ELSE $y END", "NULLIF($x, $y)",
        ]);
    }

    public function text(int $depth): string
    {
        if ($depth <= 0) {
            return $this->pick(['a.t', 'a.v', "'abc'", "'Ä'", "''", 'a.e', "'2'"]);
        }
        $x = $this->text($depth - 1);
        return $this->pick([
            "CONCAT($x, {$this->text($depth - 2)})", "UPPER($x)", "LOWER($x)", "LEFT($x, 2)", "SUBSTRING($x, 2)",
            "TRIM($x)", "REPLACE($x, 'a', 'bb')", "IFNULL($x, 'none')", "REVERSE($x)", "CONCAT_WS('-', $x, {$this->number(0)})",
            "IF({$this->condition($depth - 2)}, $x, 'no')", "LPAD($x, 5, '*')",
        ]);
    }

    public function condition(int $depth): string
    {
        if ($depth <= 0) {
            return $this->pick(['a.i > 1', "a.t = 'ABC'", 'a.d IS NULL', "a.v LIKE 'b%'", 'a.b', 'a.dt > \'2024-01-01\'', "a.e = 'two'", "a.da = '2024-02-29'", 'a.i IN (1, 2, 7)', 'a.u BETWEEN 2 AND 100']);
        }
        return $this->pick([
            "({$this->condition($depth - 1)} AND {$this->condition($depth - 1)})", "({$this->condition($depth - 1)} OR {$this->condition($depth - 2)})",
            "NOT ({$this->condition($depth - 1)})", "({$this->number($depth - 1)} < {$this->number($depth - 1)})",
            "({$this->text($depth - 1)} = {$this->text($depth - 1)})", "({$this->number($depth - 1)} IS NOT NULL)",
            "({$this->text($depth - 1)} LIKE '%b%')", "EXISTS (SELECT 1 FROM o WHERE o.a_id = a.id AND o.n > {$this->below(4)})",
            "(a.id IN (SELECT a_id FROM o WHERE n = {$this->below(4)}))",
        ]);
    }

    public function query(): string
    {
        $where = $this->condition(2);
        return match ($this->below(7)) {
            0 => "SELECT a.id, {$this->number(2)} AS x, {$this->text(2)} AS y FROM a WHERE $where ORDER BY a.id",
            1 => "SELECT a.id, {$this->number(3)} AS x FROM a ORDER BY a.id",
            2 => "SELECT a.e, COUNT(*) AS c, SUM({$this->number(1)}) AS s, MAX({$this->text(1)}) AS m FROM a GROUP BY a.e ORDER BY a.e",
            3 => "SELECT a.id, o.n FROM a LEFT JOIN o ON o.a_id = a.id AND $where ORDER BY a.id, o.id",
            4 => "SELECT COUNT(*) AS c, AVG({$this->number(1)}) AS s, MIN(a.d) AS m FROM a JOIN o ON o.a_id = a.id WHERE $where",
            5 => "SELECT a.id FROM a WHERE $where ORDER BY {$this->number(1)}, a.id LIMIT 4 OFFSET 1",
            6 => "SELECT x.k, COUNT(*) AS c FROM (SELECT {$this->text(1)} AS k, a.id FROM a WHERE $where) x GROUP BY x.k ORDER BY c DESC, x.k",
        };
    }
}

function generate(string $name): iterable
{
    mt_srand(7);
    if (isset(FUNCTIONS[$name])) {
        yield from functions($name);
    } elseif ($name === 'operators') {
        yield from operators();
    } elseif ($name === 'intervals') {
        yield from intervals();
    } elseif (preg_match('/^random(\d+)$/', $name, $m)) {
        $grammar = new Grammar(20240229);
        for ($i = 0; $i < (int) $m[1]; $i++) {
            yield $grammar->query();
        }
    } else {
        fwrite(STDERR, "there is nothing to generate by the name of $name\n");
        exit(2);
    }
}
