<?php
// A signal's handler runs between two instructions: in a loop, at a call, at a function's start; it may throw or suspend.
pcntl_async_signals(true);
$n = 0;
pcntl_signal(SIGUSR1, function () use (&$n) { $n++; });
$pid = getmypid();
for ($i = 0; $i < 2000; $i++) { posix_kill($pid, SIGUSR1); }
echo $n, "\n";
function called($pid) { posix_kill($pid, SIGUSR1); return 1; }
for ($i = $s = 0; $i < 500; $i++) { $s += called($pid); }
echo $n, ' ', $s, "\n";
pcntl_signal(SIGUSR2, function () { throw new Exception('from the handler'); });
for ($i = $caught = 0; $i < 200; $i++) {
    try { $a = [1, 'x' => posix_kill($pid, SIGUSR2) . "rope $i", ...[1, 2]]; while (true) { } } catch (Exception $e) { $caught++; } finally { $a = null; }
}
echo $caught, "\n";
pcntl_signal(SIGUSR1, function () { try { Fiber::suspend('suspended by a handler'); } catch (FiberError $e) { echo $e->getMessage(), "\n"; } });
$f = new Fiber(function () use ($pid) { posix_kill($pid, SIGUSR1); for ($i = 0; $i < 10; $i++) { } return 'ended'; });
echo $f->start(), "\n"; if (!$f->isTerminated()) { $f->resume(); } echo $f->getReturn(), "\n";
function generator($pid) { for ($i = 0; $i < 100; $i++) { posix_kill($pid, SIGUSR2); yield $i; } }
try { foreach (generator($pid) as $v) { } } catch (Exception $e) { echo $e->getMessage(), "\n"; }
// One that is pending when a callback of an internal function starts.
pcntl_signal(SIGUSR1, function () use (&$n) { $n++; });
$n = 0; usleep(1); array_map(function ($x) use ($pid) { posix_kill($pid, SIGUSR1); return $x; }, range(1, 300)); echo $n, "\n";
