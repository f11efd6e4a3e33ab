# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""The same walk over the same document root by ephpm and by nginx + php-fpm: what differs has to be
among the differences that are meant (KNOWN here, with the reasons in docs/differences.md).

Needs ../shared/apps (the document root, the walk, how to start nginx and php-fpm), nginx, php-fpm.
"""
import difflib
import re
import shutil
import sys

import pytest

import ephpm

sys.path.insert(0, str(ephpm.REPOSITORY / "tests/integration/apps"))

from application import SHARED, App, free_port, php_minor, run_script  # noqa: E402

# Each line that only one of the two has must match one of these. The reason is the heading of a
# section in docs/differences.md.
KNOWN = [
    ("Empty variables are absent", "nginx",
     r'\s*"(CONTENT_LENGTH|CONTENT_TYPE|PATH_INFO|REMOTE_USER)": "",?'),
    ("Empty variables are absent", "nginx", r'\s*"content[-_](length|type)": "",?'),
    ("Empty variables are absent", "ephpm", r'\s*"content_(length|type)": null,?'),
    ("No REMOTE_USER from the client", "nginx", r'\s*"REMOTE_USER": "alice",?'),
    ("PATH_TRANSLATED", "ephpm", r'\s*"PATH_TRANSLATED": "\{ROOT\}/.*",?'),
    ("Our own variables", "ephpm", r'\s*"REQUEST_ID": "[0-9a-f]{16}",?'),
    ("Our own variables", "ephpm", r'\s*"EPHPM_(GENERATION|WORKER)": "\d+",?'),
    ("Repeated request headers", "nginx", r'\s*"HTTP_X_DUP": "2",?'),
    ("Repeated request headers", "ephpm", r'\s*"HTTP_X_DUP": "1, 2",?'),
    ("Host of an absolute request target", "nginx", r'\s*"HTTP_HOST": "\{HOST\}",?'),
    ("Host of an absolute request target", "ephpm", r'\s*"HTTP_HOST": "other.test",?'),
    ("Types of static files", "nginx", r"content-type: (text/(html|css|plain)|application/json)"),
    ("Types of static files", "ephpm",
     r"content-type: (text/(html|css|plain|javascript)|application/json); charset=utf-8"),
    ("Types of static files", "nginx", r"content-type: application/javascript"),
    ("Error pages", "ephpm", r"allow: GET, HEAD"),
    ("Redirects of directories", "nginx", r"location: http://\{HOST\}/sub/"),
    ("Redirects of directories", "ephpm", r"location: /sub/"),
    # A trailing comma comes and goes with the line after it.
    ("Empty variables are absent", "nginx", r'\s*"PHP_AUTH_USER": "alice",'),
    ("Empty variables are absent", "ephpm", r'\s*"PHP_AUTH_USER": "alice"'),
]

ERROR_PAGE = re.compile(r"(?s)(<html>\n<head><title>\d{3} [^<]*</title></head>.*</html>\n?"
                        r"|<!DOCTYPE html>\n<html lang=\"en\">.*<title>\d{3} [^<]*</title>.*"
                        r"<small>Request [0-9a-f]{16}</small>.*</html>\n?)$")


@pytest.fixture(scope="module")
def walks(tmp_path_factory):
    """{"ephpm": folder, "nginx": folder} of one file per case."""
    app = App("conformance")
    for program in "nginx", "php-fpm" + php_minor(), "curl":
        if not shutil.which(program):
            pytest.skip(f"no {program}")
    base = tmp_path_factory.mktemp("conformance")
    out = {name: base / name for name in ("ephpm", "nginx")}
    port = free_port()
    # PEER_STATE holds sockets, and is for www-data too.
    state = {"PEER_STATE": f"/tmp/ephpm-test-peer-{port}"}
    run_script("serve-nginx-fpm.sh", app.public, port, env=state)
    try:
        run_script("conformance-run.sh", f"http://127.0.0.1:{port}", out["nginx"])
    finally:
        run_script("serve-nginx-fpm.sh", "stop", port, env=state)
        shutil.rmtree(state["PEER_STATE"], ignore_errors=True)
    with app.serve() as server:
        run_script("conformance-run.sh", server.url, out["ephpm"])
        server.check()
    return out


def read(path):
    """The lines of a case. The text of an error page is the server's own, its status is not."""
    return ERROR_PAGE.sub("(error page)\n", path.read_text(errors="surrogateescape")).splitlines()


def unexplained(nginx, ephpm_):
    """Lines that differ and are not known, marked with - (nginx) and + (ephpm)."""
    left = []
    for line in difflib.ndiff(nginx, ephpm_):
        side = {"- ": "nginx", "+ ": "ephpm"}.get(line[:2])
        if side and not any(s == side and re.fullmatch(p, line[2:]) for _, s, p in KNOWN):
            left.append(line)
    return left


def test_walks_have_the_same_cases(walks):
    names = {side: {p.name for p in folder.iterdir()} for side, folder in walks.items()}
    assert names["ephpm"] == names["nginx"] and len(names["ephpm"]) >= 150


def test_only_known_differences(walks):
    bad = {}
    for path in sorted(walks["nginx"].iterdir()):
        left = unexplained(read(path), read(walks["ephpm"] / path.name))
        if left:
            bad[path.name] = left
    assert not bad, "\n".join(f"{name}:\n  " + "\n  ".join(v) for name, v in bad.items())


def test_most_cases_are_identical(walks):
    same = [p.name for p in walks["nginx"].iterdir()
            if p.read_bytes() == (walks["ephpm"] / p.name).read_bytes()]
    assert len(same) >= 118


def test_a_new_difference_would_be_seen():
    assert unexplained(["status: 200"], ["status: 500"]) == ["- status: 200", "+ status: 500"]
    assert unexplained(["x-one: 1"], []) == ["- x-one: 1"]
    assert unexplained([], ['    "REQUEST_ID": "0123456789abcdef",']) == []
    assert unexplained(['    "REQUEST_ID": "0123456789abcdef",'], []) != []


def test_known_differences_are_documented():
    text = (ephpm.REPOSITORY / "docs/differences.md").read_text()
    headings = set(re.findall(r"(?m)^## (.*)$", text))
    assert {reason for reason, _, _ in KNOWN} <= headings
