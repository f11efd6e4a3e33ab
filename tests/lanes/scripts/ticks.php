<?php
declare(ticks=1);
$ticks = 0;
register_tick_function(function () use (&$ticks) { $ticks++; });
for ($i = 0; $i < 100; $i++) { $x = $i; if ($x % 2) { continue; } $y = strlen("$x"); }
echo $ticks, "\n";
register_tick_function(function () use (&$ticks) { if ($ticks > 500) { $ticks = -1000000; throw new Exception('from a tick'); } });
try { for ($i = 0; $i < 1000; $i++) { $x = $i; } } catch (Exception $e) { echo $e->getMessage(), ' ', $i, "\n"; }
