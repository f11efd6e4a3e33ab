<?php
// Slow paths that take arguments of their own, with operands of all kinds, in all positions.
class N { public static $s = 5; public static ?array $a = null; public $p = 3; public function __toString() { return '12'; } }
$operands = [0, 7, -3, PHP_INT_MAX, PHP_INT_MIN, 1.5, -0.0, '5', '1.5', 'abc', '', null, true, false, [], [1, 2], new N, INF, NAN];
$ops = [
    '+' => fn ($a, $b) => $a + $b, '-' => fn ($a, $b) => $a - $b, '*' => fn ($a, $b) => $a * $b, '%' => fn ($a, $b) => $a % $b,
    '<<' => fn ($a, $b) => $a << $b, '>>' => fn ($a, $b) => $a >> $b, '|' => fn ($a, $b) => $a | $b, '&' => fn ($a, $b) => $a & $b,
    '^' => fn ($a, $b) => $a ^ $b, '==' => fn ($a, $b) => $a == $b, '!=' => fn ($a, $b) => $a != $b, '<' => fn ($a, $b) => $a < $b,
    '<=' => fn ($a, $b) => $a <= $b, '<=>' => fn ($a, $b) => $a <=> $b, '.' => fn ($a, $b) => "$a" . $b, '**' => fn ($a, $b) => $a ** $b,
    '~' => fn ($a, $b) => ~$a, 'if' => function ($a, $b) { if ($a == $b) { return 1; } if ($a < $b) { return 2; } while ($a != $b) { return 3; } return 4; },
    'switch' => function ($a, $b) { switch ($a) { case $b: return 'same'; case 7: return 'seven'; default: return 'default'; } },
    'match' => fn ($a, $b) => match (true) { $a === $b => 'same', $a == 7 => 'seven', default => 'default' },
];
$hash = hash_init('crc32b');
set_error_handler(function ($no, $text) use ($hash) { hash_update($hash, $text); return true; });
foreach ($ops as $name => $op) {
    foreach ($operands as $a) {
        foreach ($operands as $b) {
            try { $r = var_export($op($a, $b), true); } catch (Throwable $e) { $r = get_class($e) . $e->getMessage(); }
            hash_update($hash, $r);
        }
    }
    echo $name, ' ', hash_final(hash_copy($hash)), "\n";
}
restore_error_handler();
function pre(&$x) { return [++$x, $x++, --$x, $x--]; }
foreach ([1, PHP_INT_MAX, PHP_INT_MIN, '9', 'z', 'Az', null, 1.5] as $x) { echo json_encode(pre($x)), "\n"; }
N::$s += 3; N::$s++; N::$a['x']['y'] = 1; $ref = &N::$s; $ref *= 2; echo N::$s, json_encode(N::$a), isset(N::$a['x']) ? 'set' : '', "\n";
unset(N::$a['x']); echo json_encode(N::$a), "\n";
function typed(int|string $a, ?N $b = null, iterable $c = [], callable|null $d = null, int ...$rest): iterable|int { return $rest ? array_sum($rest) : 1; }
try { echo typed('x', new N, [], 'strlen', 1, 2, 3), typed(a: 5, c: new ArrayIterator([])), "\n"; } catch (Error $e) { echo $e->getMessage(), "\n"; }
foreach ([[1.5], ['x', 1], [1, null, 5], [1, null, [], 'no such']] as $args) { try { typed(...$args); } catch (TypeError $e) { echo preg_replace('/, called.*/', '', $e->getMessage()), "\n"; } }
function byref(&$r) { $r = 9; }
$name = 'dyn'; $$name = 1; byref($$name); echo $dyn, "\n"; global $$name;
$f = 'byref'; $f($fresh['a']['b']); echo json_encode($fresh), "\n";
try { $f(1); } catch (Error $e) { echo $e->getMessage(), "\n"; }
try { (new ReflectionFunction('byref'))->invoke(1); } catch (Error $e) { echo $e->getMessage(), "\n"; }
echo json_encode(array_filter(get_defined_vars(), 'is_scalar')), "\n";
