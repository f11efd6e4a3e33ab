# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""The scripts that tell what PHP was handed, as a visitor uses them. How their answers compare with
those of nginx and php-fpm: test_conformance_diff.py."""
import hashlib
import json
import threading

import ephpm

APP = "conformance"


def test_smoke_checks_hold(checks):
    assert checks() == ""


def test_upload_form(browser):
    page = browser.get("/upload.php")
    data = bytes(range(256)) * 12_000
    page = browser.submit(page, {}, {"f": ("all bytes.bin", "application/octet-stream", data)},
                          form=page.forms[0])
    assert json.loads(page.text) == {"moved": True, "size": len(data), "error": 0,
                                     "sha256": hashlib.sha256(data).hexdigest()}
    page = browser.get("/upload.php")
    page = browser.submit(page, {}, form=page.forms[0])
    assert json.loads(page.text)["error"] == 4


def test_session_of_two_visitors(browser, new_browser):
    other = new_browser()
    for n in 1, 2, 3:
        assert json.loads(browser.get("/session.php").text) == {"n": n}
    assert json.loads(other.get("/session.php").text) == {"n": 1}
    old = browser.cookie("PHPSESSID")
    assert json.loads(browser.get("/session.php?regenerate=1").text) == {"n": 4}
    assert browser.cookie("PHPSESSID") != old
    other.cookies["/", "PHPSESSID"] = old
    assert json.loads(other.get("/session.php").text) == {"n": 1}
    browser.get("/session.php?destroy=1")
    assert json.loads(browser.get("/session.php").text) == {"n": 1}


def test_session_lock_serialises_one_visitor(browser, new_browser):
    """PHP's own session files are locked while a script runs, across workers."""
    browser.get("/session.php")
    sid = browser.cookie("PHPSESSID")
    visitors = [new_browser() for _ in range(3)]
    seen = []

    def count(b):
        b.cookies["/", "PHPSESSID"] = sid
        for _ in range(10):
            seen.append(json.loads(b.get("/session.php").text)["n"])

    threads = [threading.Thread(target=count, args=(b,)) for b in visitors]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert sorted(seen) == list(range(2, 32))


def test_events_arrive_one_by_one(server):
    with server.connect() as c:
        c.send("GET /sse.php HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n"
               "Connection: close\r\n\r\n")
        head = c.read_head()
        assert head.get("Content-Type").startswith("text/event-stream")
        assert "X-Accel-Buffering" not in head
        events = 0
        while chunk := c.read_chunk():
            assert chunk.startswith(b"id: %d\n" % events) and chunk.count(b"id: ") == 1
            events += 1
    assert events == 3


def test_finish_goes_on_behind_the_answer(server, browser):
    for _ in range(5):  # again when the machine stood still after the answer
        assert json.loads(browser.get("/finish.php?id=apps").text) == {"has": True}
        busy = [w for w in server.workers() if w["state"] == "busy"]
        assert ephpm.wait_for(
            lambda: json.loads(browser.get("/finish.php?id=apps&ask=1").text)["done"], 30, 0.4)
        if busy:
            return
    raise AssertionError("each answer came when the work behind it was done")


def test_client_that_leaves_is_noticed(server, browser):
    c = server.connect()
    c.send("GET /abort.php?id=apps HTTP/1.1\r\nHost: x\r\n\r\n")
    c.read_exactly(100_000)
    c.reset()
    assert ephpm.wait_for(
        lambda: json.loads(browser.get("/abort.php?id=apps&ask=1").text)["seen"], 30, 0.1) == "aborted"


def test_download_with_range_of_a_static_file(browser):
    whole = browser.get("/static/10m.bin")
    assert len(whole.body) == 10 << 20
    part = browser.get("/static/10m.bin", {"Range": "bytes=5242880-5242889"})
    assert part.status == 206 and part.body == whole.body[5242880:5242890]
    assert browser.get("/download.php").body == whole.body


def test_state_is_the_same_in_every_request(browser):
    seen = {browser.get("/state.php").text for _ in range(12)}
    assert len(seen) == 1


def test_crashing_requests_do_not_disturb_others(browser, new_browser):
    stop, wrong = threading.Event(), []

    def visit(b):
        while not stop.is_set():
            page = b.get("/hello.php")
            if page.status != 200 or page.text != "Hello, world!\n":
                wrong.append(page)

    b = new_browser()
    t = threading.Thread(target=visit, args=(b,))
    t.start()
    try:
        for how in ("error", "exception", "oom", "undefined", "parse", "after") * 4:
            assert browser.get(f"/fatal.php?how={how}").status in (200, 500)
    finally:
        stop.set()
        t.join()
    assert not wrong
