# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""Static files: methods, validators, ranges, precompressed siblings, types, changes."""
import gzip
import os
import time

import pytest

import ephpm
from httpc import build, wait_for

TEXT = "".join(f"line {i:06}\n" for i in range(1000))
ABC = "0123456789abcdefghij"
OLD = 1_600_000_000  # Sun, 13 Sep 2020 12:26:40 GMT
DATE = "Sun, 13 Sep 2020 12:26:40 GMT"

FILES = {
    "index.php": "<?php echo 'front';", "abc.txt": ABC, "text.txt": TEXT, "empty.css": "",
    "pre.js": TEXT, "pre.js.gz": gzip.compress(TEXT.encode()), "pre.js.br": b"brotli bytes",
    "stale.js": TEXT, "stale.js.gz": b"old", "page.html": "<p>",
    "pic.png": b"\x89PNG" + b"\0" * 5000,
    "big.bin": os.urandom(3 << 20),
}

CONFIG = """
[server.static]
cache_control = "public, max-age=60"
"""


@pytest.fixture(scope="module")
def server():
    with ephpm.Server(CONFIG, FILES) as s:
        for f in "abc.txt", "text.txt", "pre.js", "stale.js":
            os.utime(s.root / f, (OLD, OLD))
        os.utime(s.root / "stale.js.gz", (OLD - 100, OLD - 100))
        yield s


def test_get_and_head(server):
    with server.connect() as c:
        get, head = c.request(target="/abc.txt"), c.request("HEAD", "/abc.txt")
        assert get.text == ABC and head.body == b""
        assert [h for h in get.headers if h[0] != "Date"] == [
            h for h in head.headers if h[0] != "Date"]
        assert get.get("Last-Modified") == DATE and get.get("Accept-Ranges") == "bytes"
        assert get.get("Cache-Control") == "public, max-age=60" and get.get("ETag")
        assert get.get("Content-Length") == "20"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "PROPFIND", "get"])
def test_other_methods_are_405_with_allow(server, method):
    with server.connect() as c:
        r = c.request(method, "/abc.txt", (), "body" if method == "POST" else None)
        assert r.status == 405 and r.get("Allow") == "GET, HEAD"
        assert c.request(target="/abc.txt").status == 200


@pytest.mark.parametrize("name, type_", [
    ("page.html", "text/html; charset=utf-8"), ("empty.css", "text/css; charset=utf-8"),
    ("pre.js", "text/javascript; charset=utf-8"), ("pic.png", "image/png"),
    ("abc.txt", "text/plain; charset=utf-8"), ("big.bin", "application/octet-stream")])
def test_types(server, name, type_):
    assert server.get(f"/{name}").get("Content-Type").lower() == type_


def test_empty_file(server):
    r = server.get("/empty.css")
    assert (r.status, r.body, r.get("Content-Length")) == (200, b"", "0")


def test_large_file_is_exact(server):
    with server.connect() as c:
        for _ in range(2):
            assert c.request(target="/big.bin").body == FILES["big.bin"]


def test_slow_reader_gets_the_whole_file(server):
    with server.connect(rcvbuf=4096) as c:
        c.send(build(target="/big.bin"))
        time.sleep(0.2)
        assert c.read_response().body == FILES["big.bin"]


def test_conditional_requests(server):
    etag = server.get("/abc.txt").get("ETag")
    rows = [
        ({"If-None-Match": etag}, 304), ({"If-None-Match": "*"}, 304),
        ({"If-None-Match": f'"x", W/{etag.removeprefix("W/")}, "y"'}, 304),
        ({"If-None-Match": '"x"'}, 200), ({"If-Modified-Since": DATE}, 304),
        ({"If-Modified-Since": "Sun, 13 Sep 2020 12:26:39 GMT"}, 200),
        ({"If-Modified-Since": "Sunday, 13-Sep-20 12:26:40 GMT"}, 304),
        ({"If-Modified-Since": "Sun Sep 13 12:26:40 2020"}, 304),
        ({"If-Modified-Since": "nonsense"}, 200),
        ({"If-None-Match": '"x"', "If-Modified-Since": DATE}, 200),
        ({"If-Match": "*"}, 200), ({"If-Match": '"x"'}, 412),
        ({"If-Unmodified-Since": "Sun, 13 Sep 2020 12:26:39 GMT"}, 412),
        ({"If-Unmodified-Since": DATE}, 200),
    ]
    with server.connect() as c:
        for headers, status in rows:
            for method in "GET", "HEAD":
                r = c.request(method, "/abc.txt", headers)
                assert r.status == status, (headers, method)
                if status == 304:
                    assert r.get("ETag") == etag and r.get("Last-Modified") == DATE
                    assert r.get("Cache-Control") and "Content-Type" not in r


RANGES = [
    ("bytes=0-3", 206, "0123", "bytes 0-3/20"), ("bytes=5-", 206, ABC[5:], "bytes 5-19/20"),
    ("bytes=-4", 206, "ghij", "bytes 16-19/20"), ("bytes=-100", 206, ABC, "bytes 0-19/20"),
    ("bytes=19-19", 206, "j", "bytes 19-19/20"), ("bytes=10-99", 206, ABC[10:], "bytes 10-19/20"),
    ("bytes=20-", 416, None, "bytes */20"), ("bytes=-0", 416, None, "bytes */20"),
    ("bytes=9-3", 200, ABC, None), ("lines=0-3", 200, ABC, None), ("bytes=x-y", 200, ABC, None),
    ("bytes=", 200, ABC, None), ("bytes=99999999999999999999-", 416, None, "bytes */20"),
]


@pytest.mark.parametrize("value, status, body, content_range", RANGES)
def test_range(server, value, status, body, content_range):
    with server.connect() as c:
        r = c.request(target="/abc.txt", headers={"Range": value})
        if status == 416 and r.status == 200 and "999" in value:
            return  # a number that does not fit may make the field invalid
        assert r.status == status and r.get("Content-Range") == content_range
        if body is not None:
            assert r.text == body
        assert c.request("HEAD", "/abc.txt", {"Range": value}).status in (200, status)


def test_range_of_large_file(server):
    r = server.get("/big.bin", {"Range": "bytes=1000000-2999999"})
    assert r.status == 206 and r.body == FILES["big.bin"][1000000:3000000]


def test_if_range(server):
    etag = server.get("/abc.txt").get("ETag")
    strong = 206 if not etag.startswith("W/") else 200
    for value, status in (etag, strong), ('"x"', 200), (DATE, 206), (
            "Sun, 13 Sep 2020 12:26:39 GMT", 200):
        r = server.get("/abc.txt", {"Range": "bytes=0-3", "If-Range": value})
        assert r.status == status, value


def test_multiple_ranges(server):
    r = server.get("/abc.txt", {"Range": "bytes=0-1,5-6,-2"})
    assert r.status == 206
    kind, _, boundary = r.get("Content-Type").partition("; boundary=")
    assert kind == "multipart/byteranges" and "Content-Range" not in r
    parts = r.text.split(f"--{boundary}")
    assert parts[-1].strip() == "--" and len(parts) == 5
    got = []
    for p in parts[1:-1]:
        head, _, body = p.partition("\r\n\r\n")
        assert "content-type: text/plain" in head.lower()
        got.append((head.lower().split("content-range: ")[1].split("\r\n")[0], body[:-2]))
    assert got == [("bytes 0-1/20", "01"), ("bytes 5-6/20", "56"), ("bytes 18-19/20", "ij")]


def test_many_ranges_are_bounded(server):
    spec = ",".join(f"{i}-{i}" for i in range(0, 10000, 2))[:7000].rpartition(",")[0]
    r = server.get("/text.txt", {"Range": f"bytes={spec}"})
    assert r.status in (200, 206, 416) and len(r.body) <= 2 * len(TEXT)
    overlapping = ",".join(["0-"] * 200)
    r = server.get("/big.bin", {"Range": f"bytes={overlapping}"})
    assert len(r.body) <= len(FILES["big.bin"]) + 1000


def test_precompressed_siblings(server):
    for accept, coding, body in [("gzip", "gzip", FILES["pre.js.gz"]),
                                 ("br", "br", b"brotli bytes"),
                                 ("gzip, br", "br", b"brotli bytes"),
                                 ("gzip;q=1, br;q=0.1", "gzip", FILES["pre.js.gz"]),
                                 ("br;q=0, gzip", "gzip", FILES["pre.js.gz"])]:
        r = server.get("/pre.js", {"Accept-Encoding": accept})
        assert (r.get("Content-Encoding"), r.body) == (coding, body), accept
        assert r.get("Vary") == "Accept-Encoding"
        assert r.get("Content-Type").startswith("text/javascript")
    r = server.get("/pre.js")
    assert r.text == TEXT and r.get("Vary") == "Accept-Encoding" and "Content-Encoding" not in r


def test_precompressed_etags_differ(server):
    etags = {server.get("/pre.js", {"Accept-Encoding": a}).get("ETag") for a in ("", "gzip", "br")}
    assert len(etags) == 3
    for a in "", "gzip", "br":
        e = server.get("/pre.js", {"Accept-Encoding": a}).get("ETag")
        assert server.get("/pre.js", {"Accept-Encoding": a, "If-None-Match": e}).status == 304


def test_stale_sibling_is_not_used(server):
    r = server.get("/stale.js", {"Accept-Encoding": "gzip"})
    assert r.body != b"old"
    assert gzip.decompress(r.body).decode() == TEXT


def test_range_is_of_the_plain_file(server):
    r = server.get("/pre.js", {"Range": "bytes=0-3", "Accept-Encoding": "gzip, br"})
    assert (r.status, r.text, r.get("Content-Encoding")) == (206, "line", None)


def test_compressed_on_the_fly(server):
    r = server.get("/text.txt", {"Accept-Encoding": "gzip"})
    assert r.get("Content-Encoding") == "gzip" and r.get("Vary") == "Accept-Encoding"
    assert gzip.decompress(r.body).decode() == TEXT
    assert int(r.get("Content-Length")) == len(r.body)
    h = server.request("HEAD", "/text.txt", {"Accept-Encoding": "gzip"})
    assert h.get("Content-Encoding") == "gzip"
    assert h.get("Content-Length") in (None, r.get("Content-Length"))
    assert server.get("/pic.png", {"Accept-Encoding": "gzip"}).get("Content-Encoding") is None
    assert server.get("/abc.txt", {"Accept-Encoding": "gzip"}).get("Content-Encoding") is None


def test_change_of_a_file_is_seen(server):
    for i in range(4):
        server.write("c.txt", f"version {i}" * (i + 1))
        assert wait_for(lambda: server.get("/c.txt").text == f"version {i}" * (i + 1)), i
    first = server.get("/c.txt").get("ETag")
    os.replace(server.write("c.new", "replaced!"), server.root / "c.txt")
    assert wait_for(lambda: server.get("/c.txt").text == "replaced!")
    assert server.get("/c.txt").get("ETag") != first
    assert server.get("/c.txt", {"If-None-Match": first}).status == 200
    (server.root / "c.txt").unlink()
    assert wait_for(lambda: server.get("/c.txt").text == "front")
    server.write("c.txt", "back")
    assert wait_for(lambda: server.get("/c.txt").text == "back")


def test_same_size_change_within_a_second_is_seen(server):
    for i in range(5):
        server.write("s.txt", f"{i}")
        assert wait_for(lambda: server.get("/s.txt").text == f"{i}"), i


def test_file_that_shrinks_while_it_is_sent_cuts_the_connection(server):
    server.write("shrink.bin", b"x" * (30 << 20))
    with server.connect(rcvbuf=4096) as c:
        c.send(build(target="/shrink.bin"))
        r = c.read_head()
        os.truncate(server.root / "shrink.bin", 1000)
        with pytest.raises(ephpm.httpc.ProtocolError):
            c.read_exactly(int(r.get("Content-Length")))
    (server.root / "shrink.bin").unlink()


def test_etag_can_be_switched_off(serve):
    s = serve("[server.static]\netag = false", {"a.txt": "x"})
    r = s.get("/a.txt")
    assert "ETag" not in r and "Last-Modified" in r and "Cache-Control" not in r


def test_file_cache_sees_changes(serve):
    s = serve("[server.file_cache]\nenabled = true\nvalid_secs = 1",
              {"a.txt": "one", "t.txt": TEXT})
    assert s.get("/a.txt").text == "one"
    for _ in range(2):
        r = s.get("/t.txt", {"Accept-Encoding": "gzip"})
        assert gzip.decompress(r.body).decode() == TEXT
    s.write("a.txt", "two!")
    assert wait_for(lambda: s.get("/a.txt").text == "two!")
