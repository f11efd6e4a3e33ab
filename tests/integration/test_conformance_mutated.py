# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""Requests that are nearly right, to nginx + php-fpm and to ephpm: what both accept, they take for
the same. Which of them accept what: test_conformance_requests.py.
"""
import concurrent.futures
import random

import pytest

import barrage
import differences
import mutation
import peers
import walk_cases
from differences import Line
from httpc import Connection, ProtocolError

COUNT, SEED = 1500, 1
FILES = {**barrage.FILES, "echo.php": walk_cases.ECHO, "index.php": walk_cases.FILES["index.php"]}
del FILES["static.txt.gz"]  # which nginx does not serve for static.txt
KNOWN = [
    Line("Empty variables are absent", "nginx",
         r'server\[(CONTENT_LENGTH|CONTENT_TYPE|PATH_INFO|REMOTE_USER)\] = ""'),
    Line("Empty variables are absent", "nginx", r'header\[content-(length|type)\] = ""'),
    Line("Empty variables are absent", "ephpm", r"header = \[\]"),
    Line("No REMOTE_USER from the client", "nginx", r'server\[REMOTE_USER\] = ".*"'),
    Line("PATH_TRANSLATED", "ephpm", r'server\[PATH_TRANSLATED\] = ".*"'),
    Line("DOCUMENT_URI", "both", r'server\[DOCUMENT_URI\] = ".*"'),
    Line("Types of static files", "both",
         r"(?i:content-type): text/(plain|html)(; charset=utf-8)?"),
    Line("Fields that concern the connection", "nginx",
         r'(server\[HTTP_TRANSFER_ENCODING\]|header\[transfer-encoding\]) = .*'),
    Line("Strict parsing", "both",
         r'(server\[CONTENT_LENGTH\]|header\[content-length\]) = "\d+"'),
    Line("Redirects of directories", "both", r"location: (http://[^/]*)?/sub/.*"),
    Line("Ranges", "ephpm", "accept-ranges: bytes"),
    # What a script sends that is no proper field: without a colon, name or value impossible.
    Line("What the walk does not see", "nginx", r"[^:]+: |etag: \{etag\}"),
    Line("What the walk does not see", "nginx", r"[^:]*[^-!#$%&'*+.^_`|~0-9a-z:][^:]*: .*"),
]


def is_plain(data):
    """None of what is known to be read differently: repeated fields, tabs, absolute targets, the
    server's own pages."""
    head = data.split(b"\r\n\r\n")[0].lower()
    names = [line.split(b":")[0] for line in head.split(b"\r\n")]
    return len(set(names)) == len(names) and not any(
        word in head for word in (b"\t", b"://", b"/_ephpm"))


def ask(address, data):
    """(status, lines), or None when there is no proper answer, or none soon."""
    try:
        with Connection(address, timeout=2) as c:
            c.send(data)
            r = c.read_response(data.split(b" ", 1)[0].decode("latin-1"))
            return r.status, peers.lines(r, "mutated")
    except (ProtocolError, OSError):
        return None


def ask_all(address, requests):
    with concurrent.futures.ThreadPoolExecutor(24) as pool:
        return list(pool.map(lambda data: ask(address, data), requests))


@pytest.fixture(scope="module")
def answers():
    """[(request, nginx's answer, ephpm's)]"""
    peers.need("nginx")
    made = (mutation.mutated_once(random.Random(f"{SEED}/{i}"), 0) for i in range(COUNT))
    requests = [data for data in made if is_plain(data)]
    plain = {"server": {"response": {"compression": False}}}
    with peers.document_root(FILES) as root:
        with peers.nginx(root, change=lambda text: text.replace("gzip on", "gzip off")) as peer:
            nginx = ask_all(peer.address, requests)
        with peers.ours(root, config=plain) as s:
            ephpm_ = ask_all(s.address, requests)
            s.check()
    return list(zip(requests, nginx, ephpm_))


def test_what_both_accept_is_taken_for_the_same(answers):
    both = [(data, n, e) for data, n, e in answers if n and e and n[0] < 400 and e[0] < 400]
    assert len(both) > COUNT // 4
    bad = []
    for data, (status, nginx), (ours, ephpm_) in both:
        left = differences.unexplained("mutated", nginx, ephpm_, KNOWN)
        if left or status != ours:
            bad.append((data[:1000], status, ours, left))
    assert not bad, "\n".join(map(str, bad))


def test_what_nginx_accepts_is_never_an_error_of_the_server(answers):
    for data, nginx, ephpm_ in answers:
        if nginx and ephpm_ and nginx[0] < 500:
            assert ephpm_[0] < 500 or ephpm_[0] == 505, data[:2000]


def test_known_differences_are_documented():
    assert {k.heading for k in KNOWN} <= differences.headings()
