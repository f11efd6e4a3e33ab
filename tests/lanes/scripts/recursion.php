<?php
// Calls of PHP functions by PHP functions take none of the processor's stack, which is small here.
function deep(int $n): int { return $n ? 1 + deep($n - 1) : 0; }
class C {
    public function __call($name, $args) { return $args[0] ? 1 + $this->$name($args[0] - 1) : 0; }
    public static function __callStatic($name, $args) { return $args[0] ? 1 + self::$name($args[0] - 1) : 0; }
    public function method($n, ...$rest) { return $n ? 1 + $this->method($n - 1, $n, ...$rest) : count($rest); }
}
$closure = function ($n) use (&$closure) { return $n ? 1 + $closure($n - 1) : 0; };
echo deep(200000), "\n", $closure(200000), "\n", (new C)->magic(100000), "\n", C::statics(100000), "\n";
echo (new C)->method(300), "\n";
for ($i = $sum = 0; $i < 3000000; $i++) {
    $sum += $i & 7;
}
echo $sum, "\n";
function tower($n) { return $n ? eval('return 1 + tower($n - 1);') : 0; }
echo tower(2000), "\n";
