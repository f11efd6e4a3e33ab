<?php
$file = tempnam(sys_get_temp_dir(), 'lanes');
file_put_contents($file, '<?php $seen[] = __LINE__ . $i; if ($i < 50) { $i++; include $file; } $seen[] = "back $i"; return count($seen);');
$i = 0; $seen = []; echo include $file, ' ', include $file, ' ', count($seen), "\n";
function scoped($file) { $i = 48; $seen = []; $r = include $file; extract(['from' => 'extract']); return compact('r', 'i', 'from'); }
echo json_encode(scoped($file)), "\n";
file_put_contents($file, '<?php return 5');
try { include $file; } catch (ParseError $e) { echo $e->getMessage(), "\n"; }
file_put_contents($file, '<?php namespace Late; const A = 3; function f() { return A; } class K extends \ArrayObject { static $n = 0; } enum E: int { case One = 1; } return f();');
echo require $file, ' ', Late\f(), ' ', count(new Late\K([1, 2])), ' ', Late\E::from(1)->name, "\n";
unlink($file);
echo eval('function made() { static $n = 0; return ++$n; } return made() + made();'), "\n";
$c = eval('return new class { public function __get($n) { return $n; } public function __invoke(...$a) { return array_sum($a); } };');
echo $c->magic, $c(1, 2, 3), ' ', implode(',', array_map($c, [1, 2], [3, 4])), "\n";
goto end; echo 'skipped';
end: echo "end\n";
exit(3);
