<?php
$f = new Fiber(function ($a) { $b = Fiber::suspend($a + 1); try { Fiber::suspend($b * 2); } catch (Exception $e) { echo $e->getMessage(), "\n"; } return 'end'; });
echo $f->start(1), "\n", $f->resume(21), "\n";
$f->throw(new Exception('thrown into the fiber'));
echo $f->getReturn(), "\n";
// From within internal functions, generators, destructors, sorts.
$f = new Fiber(fn () => array_map(fn ($x) => Fiber::suspend($x) + 1, [1, 2, 3]));
for ($v = $f->start(); !$f->isTerminated(); $v = $f->resume($v * 10)) { }
echo implode(',', $f->getReturn()), "\n";
function gen() { for ($i = 0; $i < 3; $i++) { yield Fiber::suspend("s$i"); } }
$f = new Fiber(function () { foreach (gen() as $v) { echo "v$v\n"; } });
for ($v = $f->start(); !$f->isTerminated(); $v = $f->resume($v)) { }
class D { function __destruct() { try { echo 'destroyed with ', Fiber::suspend('in destructor'), "\n"; } catch (FiberError $e) { echo $e->getMessage(), "\n"; } } }
$f = new Fiber(function () { $d = new D; unset($d); });
echo $f->start(), "\n"; if (!$f->isTerminated()) { $f->resume('a value'); }
$f = new Fiber(function () { $a = [3, 1, 2]; usort($a, function ($x, $y) { Fiber::suspend(); return $x <=> $y; }); return $a; });
for ($f->start(); !$f->isTerminated(); $f->resume()) { }
echo implode(',', $f->getReturn()), "\n";
// Many at once, each in the middle of something.
$fibers = []; $sum = 0;
for ($i = 0; $i < 500; $i++) {
    $fibers[] = $f = new Fiber(function ($n) { $s = 0; for ($j = 0; $j < 20; $j++) { $s += $n + Fiber::suspend($j); } return $s; });
    $f->start($i);
}
for ($r = 0; $r < 20; $r++) { foreach ($fibers as $f) { $f->resume($r); } }
foreach ($fibers as $f) { $sum += $f->getReturn(); }
echo $sum, "\n";
$f = new Fiber(function () { try { Fiber::suspend(); } finally { echo "finally of a fiber that is dropped\n"; } });
$f->start(); unset($f); gc_collect_cycles();
function deep($n) { return $n ? 1 + deep($n - 1) : Fiber::suspend('at the bottom'); }
$f = new Fiber(fn () => deep(5000)); echo $f->start(), "\n"; $f->resume(7); echo $f->getReturn(), "\n";
$f = new Fiber(function () { throw new LogicException('out of the fiber'); });
try { $f->start(); } catch (LogicException $e) { echo $e->getMessage(), ' ', $e->getLine(), "\n"; }
