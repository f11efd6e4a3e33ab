<?php
// The line of an error that comes from pushing a call's frame.
ini_set('memory_limit', '8M');
function endless($n)
{
    $a = $n + 1;
    return 1 +
        endless(
            $a
        );
}
endless(0);
