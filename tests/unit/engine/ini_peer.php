<?php
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The ephpm developers

// PHP's own ini parser reads what ini_add() wrote and must get the same values.

$values = ['', '128M', '-1', '0', '/var/lib/php', '.:/usr/share/php', 'Europe/Berlin', 'a b', ' a ', 'a;b', 'a # b', 'a=b',
    '${PATH}', '$x', 'say "hi"', '"quoted"', "it's", "'", "''", "'a'", "a'b\"c", 'C:\\dir\\x', 'end\\', '\\"', "\\'", 'é', '50%',
    'a,b,c', '{a}', '[a]', '(a)', 'a&b', 'a|b', '~a', '!a', 'a^b', '1e3', '+1', 'x?y', '*', '<a@b.c>', 'https://x.y/?a=b&c=d#e'];
for ($c = 0x20; $c < 0x7f; $c++) {
    $values[] = 'a' . chr($c) . 'b';
    $values[] = chr($c);
}
$pipe = popen(implode(' ', array_map('escapeshellarg', array_merge([$argv[1]], $values))), 'r');
$text = stream_get_contents($pipe);
pclose($pipe);
$got = parse_ini_string($text);
$bad = 0;
foreach ($values as $i => $want) {
    $have = $got['v' . ($i + 1)] ?? null;
    if ($have !== $want) {
        $bad++;
        echo var_export($want, true), ' was read as ', var_export($have, true), "\n";
    }
}
$levels = parse_ini_string(shell_exec(escapeshellarg($argv[1]) . " 'E_ALL & ~E_DEPRECATED'"));
if ((int) $levels['v1'] !== (E_ALL & ~E_DEPRECATED)) {
    $bad++;
    echo 'E_ALL & ~E_DEPRECATED was read as ', $levels['v1'], "\n";
}
echo count($values), " values, $bad differ\n";
exit($bad ? 1 : 0);
