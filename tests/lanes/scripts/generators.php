<?php
function inner() { try { $x = yield 1; echo "got $x\n"; yield 2; return 'inner done'; } finally { echo "inner finally\n"; } }
function outer() { try { $r = yield from inner(); echo "$r\n"; yield from [10, 20]; yield from new ArrayIterator([30]); } finally { echo "outer finally\n"; } return 'outer done'; }
$g = outer();
echo $g->current(), "\n", $g->send('sent'), "\n";
for (; $g->valid(); $g->next()) { echo $g->key(), ' => ', $g->current(), "\n"; }
echo $g->getReturn(), "\n";
$g = outer(); $g->current();
try { $g->throw(new Exception('thrown in')); } catch (Exception $e) { echo $e->getMessage(), ' ', $e->getLine(), "\n"; }
$g = outer(); $g->current(); unset($g); // closed halfway
function counter($n) { for ($i = 0; $i < $n; $i++) { $got = yield $i => $i * $i; if ($got) { $i += $got; } } return $i; }
$sum = 0;
foreach (counter(50000) as $k => $v) { $sum += $v - $k; }
echo $sum, "\n";
function chain($n) { if ($n) { yield from chain($n - 1); } yield $n; }
echo array_sum(iterator_to_array(chain(500), false)), "\n";
function &refs(array &$a) { foreach ($a as &$v) { yield $v; } }
$a = [1, 2, 3]; foreach (refs($a) as &$v) { $v *= 2; } unset($v);
echo implode(',', $a), "\n";
function lazy() { throw new LogicException('at the first step'); yield; }
try { lazy()->current(); } catch (LogicException $e) { echo $e->getMessage(), "\n"; }
$g = (function () { try { yield 1; } finally { yield 2; echo "after the finally's yield\n"; } })();
foreach ($g as $v) { echo $v, "\n"; }
try { $g = (function () use (&$g) { yield $g->next(); })(); $g->current(); } catch (Error $e) { echo $e->getMessage(), "\n"; }
