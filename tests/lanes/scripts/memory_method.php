<?php
ini_set('memory_limit', '8M');
class Endless
{
    public function go($n)
    {
        return 1

            + $this->go($n + 1);
    }
}
(new Endless)->go(0);
