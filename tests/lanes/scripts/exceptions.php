<?php
function order($what) {
    try { echo "try $what\n"; if ($what === 'throw') { throw new Exception('e'); } if ($what === 'return') { return 'from try'; } }
    catch (Exception $e) { echo "catch\n"; return 'from catch'; }
    finally { echo "finally\n"; if ($what === 'override') { return 'from finally'; } }
    return 'from end';
}
foreach (['throw', 'return', 'override', 'none'] as $w) { echo order($w), "\n"; }
function nested($n) { try { if (!$n) { throw new Exception('bottom'); } nested($n - 1); } finally { if ($n % 100 == 0) { echo "f$n\n"; } } }
try { nested(300); } catch (Exception $e) { echo $e->getMessage(), ' ', count($e->getTrace()), "\n"; }
class D { public function __construct(public $n) {} function __destruct() { if ($this->n < 0) { throw new Exception("destructor {$this->n}"); } echo "d{$this->n}\n"; } }
function unwinds() { $a = new D(1); $b = new D(2); foreach ([new D(3), new D(4)] as $d) { foreach ([1, 2] as $x) { throw new Exception('in loops'); } } }
try { unwinds(); } catch (Exception $e) { echo $e->getMessage(), "\n"; } unset($d);
try { (function () { $x = new D(-1); })(); } catch (Exception $e) { echo $e->getMessage(), "\n"; }
try { f(new D(5), throw new Exception('in an argument')); } catch (Error | Exception $e) { echo $e->getMessage(), "\n"; }
function f(...$a) {}
try { f(new D(6), strlen(throw new Exception('in a nested call'))); } catch (Exception $e) { echo $e->getMessage(), "\n"; }
// Every kind of operation with an error handler that throws: the instruction that failed is known.
set_error_handler(function ($no, $text, $file, $line) { throw new ErrorException($text, 0, $no, $file, $line); });
$u = fn ($code) => eval($code);
foreach (['$x + 1', '1 - $x', '$x * 2', '$x % 2', '1 << $x', '1 >> $x', '$x | 1', '$x & 1', '$x ^ 1', '~$x', '$x == 1', '$x != 1', '$x < 1',
    '$x <= 1', '-$x', '!$x', '$x . "a"', '"a$x"', '$x[0]', '$x->p', '$x?->p', '[...$x]', '$x()', 'new $x', '$$x', 'isset($x->a[1])', '(int)$x', '(string)[]',
    '[][1]', '"abc"[7]', '1 % 0', '1 << -1', 'intdiv(1, 0)', '[] + 1', '"a" * 2', 'null->f()', 'X::Y', 'X::$y', 'X::f()', 'UNKNOWN', 'match(5) { 1 => 2 }',
    '(function (int $i) {})("x")', '(function (int $i) {})()', '(function (): int { return "x"; })()', '(function (&$r) {})(1)', 'strlen()', 'clone 1',
    'foreach_(1)', 'array_map(fn ($a) => $a + $undefined, [1])', 'yield_', 'throw new Error("thrown")'] as $code) {
    try { var_dump($u("return $code;")); } catch (Throwable $e) { echo str_pad($code, 36), get_class($e), ': ', $e->getMessage(), "\n"; }
}
function thrower() { throw new Exception('uncaught in the end'); }
restore_error_handler();
register_shutdown_function(function () { echo "shutdown\n"; });
thrower();
