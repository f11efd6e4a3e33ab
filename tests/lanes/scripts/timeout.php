<?php
register_shutdown_function(function () { echo 'shutdown after ', error_get_last()['message'], "\n"; });
set_time_limit(1);
function loop() { for (;;) { $a = 1; } }
loop();
