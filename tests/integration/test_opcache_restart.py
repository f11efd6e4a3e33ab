# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""OPcache empties its memory when no request uses it: neither sooner nor, because of one, never."""
import json
import os
import signal

import ephpm

CONFIG = {"php": {"workers": 3, "workers_min": 3}}
FILES = {
    "long.php": """<?php
        require __DIR__ . '/part.php';
        file_put_contents($_GET['flag'], getmypid());
        while (!file_exists($_GET['go'])) { usleep(5000); clearstatcache(); }
        echo part();""",
    "part.php": "<?php function part() { return 'whole ' . implode(',', ['a' => 1, 'b' => 2]); }",
    "reset.php": "<?php var_dump(opcache_reset());",
    "stat.php": """<?php
        $s = opcache_get_status(false);
        echo json_encode($s ? $s['opcache_statistics'] : ['manual_restarts' => -1]);""",
}


def statistics(s, name):
    return json.loads(s.get("/stat.php").text)[name]


def start_long(s, tmp_path, name):
    """A request that goes on until go exists; the connection, its worker and go."""
    flag, go = tmp_path / f"{name}-flag", tmp_path / f"{name}-go"
    os.chmod(tmp_path, 0o777)
    c = s.connect()
    c.send(f"GET /long.php?flag={flag}&go={go} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    assert ephpm.wait_for(lambda: flag.exists() and flag.read_text())
    return c, int(flag.read_text()), go


def restarted(s):
    return ephpm.wait_for(lambda: statistics(s, "manual_restarts") > 0)


def test_restart_waits_for_requests(serve, tmp_path):
    s = serve(CONFIG, FILES)
    for _ in range(6):
        assert statistics(s, "manual_restarts") == 0
    c, _, go = start_long(s, tmp_path, "one")
    assert "true" in s.get("/reset.php").text
    for _ in range(20):
        assert statistics(s, "manual_restarts") <= 0, "emptied below a running request"
    go.touch()
    assert c.read_response().text == "whole 1,2"
    assert restarted(s)
    for n in range(10):
        c, _, go = start_long(s, tmp_path, f"after-{n}")
        go.touch()
        assert c.read_response().text == "whole 1,2"


def test_restart_does_not_wait_for_the_dead(serve, tmp_path):
    s = serve(CONFIG, FILES)
    c, pid, _ = start_long(s, tmp_path, "dead")
    assert "true" in s.get("/reset.php").text
    assert statistics(s, "manual_restarts") <= 0
    os.kill(pid, signal.SIGKILL)
    assert c.read_response().status == 502
    assert restarted(s)
