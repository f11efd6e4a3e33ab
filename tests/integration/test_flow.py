# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""Back-pressure between client, front and worker: nothing is lost, nothing waits for ever."""
import pytest

import ephpm
from httpc import build

SLOW = """<?php usleep(500000); $in = fopen('php://input', 'r'); $n = 0;
while (!feof($in)) { $n += strlen(fread($in, 65536)); usleep(500); } echo "end $n";"""
LENGTH = "<?php echo strlen(file_get_contents('php://input')), ' ', getmypid();"


@pytest.mark.parametrize("size", [300000, 700000, 1000000])
def test_streamed_body_that_is_read_late_arrives_in_full(serve, size):
    s = serve('[server.request]\nstreaming_paths = ["/slow.php"]\n', {"slow.php": SLOW})
    assert s.post("/slow.php", b"x" * size).text == f"end {size}"


def test_answers_that_do_not_fit_the_socket_keep_pipelined_requests_in_order(serve):
    s = serve("", {"index.php": "<?php"})
    request = build("GET", "/_ephpm/health")
    with s.connect(rcvbuf=4096) as c:
        c.sock.settimeout(1)
        sent = 0
        try:
            while sent < 64 << 20:
                sent += c.sock.send(request * 200)
        except TimeoutError:
            pass
        c.sock.settimeout(60)
        for _ in range(sent // len(request)):
            r = c.read_response()
            assert (r.status, r.text) == (200, "ok\n")
    assert "bad_request" not in s.log()


def test_heads_and_bodies_larger_than_a_worker_takes_at_once(serve):
    s = serve('[server.request]\nmax_header_size = "512K"\nmemory_buffer = "4M"\n',
              {"index.php": LENGTH})
    pids = set()
    for _ in range(4):
        assert s.request("GET", "/", {"Cookie": "a=" + "x" * 100000}).status == 431
        for n in 60000, 100000, 300000, 2000000:
            r = s.request("POST", "/", {"Cookie": "a=" + "x" * 40000}, body=b"y" * n)
            assert r.status == 200 and r.text.startswith(f"{n} ")
            pids.add(r.text.split()[1])
    assert len(pids) <= len(s.workers())


def test_php_that_ends_at_once_is_a_failed_start():
    s = ephpm.Server('[php]\nbinary = "/bin/false"\n', {"index.php": ""}, start=False)
    done = s.cli("serve")
    assert done.returncode == 1
    assert "AddressSanitizer" not in done.stderr and "the prototype ended" in done.stderr
