# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""What the patches of sdk/patches are for, seen from outside; what they must not change."""
import collections
import os
import re
import shutil
import signal
import subprocess
import time

import pytest

import ephpm

tuned = pytest.mark.skipif(b"zend_set_timeout_hook" not in ephpm.EPHPM_PHP.read_bytes(),
                           reason="ephpm-php is not built with a patched PHP")

# Calls that the worker's own loop makes to be woken, to answer and to look at the clock.
OWN = {"futex", "write", "sendmsg", "recvmsg", "poll", "epoll_wait", "restart_syscall", "sched_yield",
       "clock_gettime", "ppoll", "eventfd2"}
CONFIG = {"php": {"workers": 1, "workers_min": 1}}
FILES = {
    "hello.php": "<?php echo 'hello';",
    "many.php": "<?php $n = 0; for ($i = 0; $i < 30; $i++) { require_once __DIR__ . \"/part$i.php\"; "
                "$n += ('part' . $i)(); } echo $n;",
    **{f"part{i}.php": f"<?php function part{i}() {{ return {i}; }}" for i in range(30)},
}


def calls_of(s, path, count, tmp_path):
    """The system calls that a worker makes for count requests, by name."""
    out = tmp_path / "strace"
    pid = s.workers()[0]["pid"]
    trace = subprocess.Popen(["strace", "-f", "-o", out, "-p", str(pid)], stderr=subprocess.PIPE, text=True)
    try:
        line = trace.stderr.readline()
        assert "attached" in line, line
        for _ in range(count):
            assert s.get(path).status == 200
        time.sleep(0.1)
    finally:
        trace.send_signal(signal.SIGINT)
        trace.wait(10)
        trace.stderr.close()
    return collections.Counter(re.findall(r"(?m)^\d+ +(\w+)\(", out.read_text()))


@tuned
@pytest.mark.parametrize("path", ["/hello.php", "/many.php"])
def test_request_makes_no_system_calls_of_php(serve, tmp_path, path):
    s = serve(CONFIG, FILES)
    for _ in range(10):
        assert s.get(path).status == 200
    calls = calls_of(s, path, 200, tmp_path)
    of_php = {name: n for name, n in calls.items() if name not in OWN}
    # The timer of max_execution_time is armed again now and then.
    timer = of_php.pop("setitimer", 0)
    assert timer <= 200 and sum(of_php.values()) <= 20, calls


@tuned
def test_limit_of_execution_time_holds(serve):
    s = serve({"php": {"workers": 1, "workers_min": 1, "values": {"max_execution_time": "1"}}},
              {"spin.php": "<?php while (true) {}",
               "more.php": "<?php set_time_limit(2); $t = microtime(true); while (true) {}",
               **FILES})
    for path, least in ("/spin.php", 0.9), ("/more.php", 1.9), ("/spin.php", 0.9):
        assert s.get("/hello.php").status == 200
        begin = time.monotonic()
        # Of processor time, which other programs may make long.
        with s.connect(timeout=60) as c:
            assert c.request("GET", path).status == 500
        assert time.monotonic() - begin >= least
    assert "Maximum execution time of 1 second exceeded" in s.log()
    assert "Maximum execution time of 2 seconds exceeded" in s.log()


@tuned
@pytest.mark.skipif(not shutil.which("valgrind"), reason="valgrind is not installed")
def test_jit_visits_no_internal_functions(tmp_path):
    out = tmp_path / "callgrind"
    run = subprocess.run(
        ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}",
         "--toggle-collect=zend_init_internal_run_time_cache", ephpm.EPHPM_PHP, "-n", "-d", "opcache.enable_cli=1",
         "-d", "opcache.jit_buffer_size=16M", "-d", "opcache.jit=tracing", "-r",
         "echo json_encode(opcache_get_status(false)['jit']['enabled']);"],
        capture_output=True, text=True, timeout=120, check=False, env={**os.environ, "USE_ZEND_ALLOC": "1"})
    if run.stdout != "true":
        pytest.skip(f"there is no JIT in this build: {run.stdout[-300:]}")
    total = int(re.search(r"(?m)^(?:summary|totals): (\d+)", out.read_text()).group(1))
    # One call for PHP's own start at most; the walk is some ten thousand instructions.
    assert total < 500


def test_memory_is_given_back(serve):
    s = serve(CONFIG, {"gc.php": """<?php
        $sizes = [8, 16, 24, 40, 56, 96, 160, 320, 640, 1280, 2560, 3000];
        $kept = [];
        foreach ($sizes as $size) {
            $all = [];
            for ($i = 0; $i < 3000; $i++) $all[] = str_repeat(chr(65 + $i % 26), $size);
            foreach ($all as $i => $text) if ($i % 500 == 7) $kept[] = $text;
            foreach ($all as $i => $text) if ($text !== str_repeat(chr(65 + $i % 26), $size)) die('damaged');
            unset($all);
        }
        $before = memory_get_usage();
        $first = gc_mem_caches();
        $second = gc_mem_caches();
        foreach ($kept as $n => $text)
            if (strlen(count_chars($text, 3)) != 1) die('damaged after the collection');
        for ($i = 0, $again = []; $i < 20000; $i++) $again[] = str_repeat('x', $i % 3000);
        foreach ($again as $i => $text) if (strlen($text) != $i % 3000) die('damaged again');
        echo json_encode([$first > 1000000, $second, memory_get_usage() >= $before]);"""})
    for _ in range(5):
        assert s.get("/gc.php").text == "[true,0,true]"
