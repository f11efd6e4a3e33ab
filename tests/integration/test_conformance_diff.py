# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""The same walk over the same document root: by nginx + php-fpm, Apache httpd with mod_php, ephpm.
What differs between nginx and ephpm has to be among the differences that are meant (KNOWN here,
with the reasons in docs/differences.md). test_conformance_requests.py has more requests.

Needs ../shared/apps (the document root, the walk, what starts the peers), nginx, php-fpm, Apache
httpd with mod_php.
"""
import re

import pytest

import differences
import peers
from application import App, run_script  # peers knows where it is
from differences import Line, unexplained

KNOWN = [
    Line("Empty variables are absent", "nginx",
         r'\s*"(CONTENT_LENGTH|CONTENT_TYPE|PATH_INFO|REMOTE_USER)": "",?'),
    Line("Empty variables are absent", "nginx", r'\s*"content[-_](length|type)": "",?'),
    Line("Empty variables are absent", "ephpm", r'\s*"content_(length|type)": null,?'),
    Line("No REMOTE_USER from the client", "nginx", r'\s*"REMOTE_USER": "alice",?'),
    Line("PATH_TRANSLATED", "ephpm", r'\s*"PATH_TRANSLATED": "\{ROOT\}/.*",?'),
    Line("Our own variables", "ephpm", r'\s*"REQUEST_ID": "[0-9a-f]{16}",?'),
    Line("Our own variables", "ephpm", r'\s*"EPHPM_(GENERATION|WORKER)": "\d+",?'),
    Line("Repeated request headers", "nginx", r'\s*"HTTP_X_DUP": "2",?'),
    Line("Repeated request headers", "ephpm", r'\s*"HTTP_X_DUP": "1, 2",?'),
    Line("Host of an absolute request target", "nginx", r'\s*"HTTP_HOST": "\{HOST\}",?'),
    Line("Host of an absolute request target", "ephpm", r'\s*"HTTP_HOST": "other.test",?'),
    Line("Types of static files", "nginx",
         r"content-type: (text/(html|css|plain)|application/json)"),
    Line("Types of static files", "ephpm",
         r"content-type: (text/(html|css|plain|javascript)|application/json); charset=utf-8"),
    Line("Types of static files", "nginx", r"content-type: application/javascript"),
    Line("Error pages", "ephpm", r"allow: GET, HEAD"),
    Line("Redirects of directories", "nginx", r"location: http://\{HOST\}/sub/"),
    Line("Redirects of directories", "ephpm", r"location: /sub/"),
    # A trailing comma comes and goes with the line after it.
    Line("Empty variables are absent", "nginx", r'\s*"PHP_AUTH_USER": "alice",'),
    Line("Empty variables are absent", "ephpm", r'\s*"PHP_AUTH_USER": "alice"'),
]

ERROR_PAGE = re.compile(r"(?s)(<html>\n<head><title>\d{3} [^<]*</title></head>.*</html>\n?"
                        r"|<!DOCTYPE html>\n<html lang=\"en\">.*<title>\d{3} [^<]*</title>.*"
                        r"<small>Request [0-9a-f]{16}</small>.*</html>\n?)$")


@pytest.fixture(scope="module")
def walks(tmp_path_factory):
    """{"nginx": {case: lines}, "apache": ..., "ephpm": ...}"""
    peers.need("nginx", "apache")
    app = App("conformance")
    base = tmp_path_factory.mktemp("conformance")
    for name, start in {"nginx": peers.nginx, "apache": peers.apache}.items():
        with start(app.public) as peer:
            run_script("conformance-run.sh", peer.url, base / name)
    with app.serve() as server:
        run_script("conformance-run.sh", server.url, base / "ephpm")
        server.check()
    return {name: {path.name: read(path) for path in (base / name).iterdir()}
            for name in ("nginx", "apache", "ephpm")}


def read(path):
    """The lines of a case. The text of an error page is the server's own, its status is not."""
    return ERROR_PAGE.sub("(error page)\n", path.read_text(errors="surrogateescape")).splitlines()


def test_report_of_all_differences(walks, capsys):
    path = differences.write_report("walk", walks, KNOWN)
    with capsys.disabled():
        print(f"\nall differences: {path}")


def test_walks_have_the_same_cases(walks):
    assert walks["ephpm"].keys() == walks["nginx"].keys() == walks["apache"].keys()
    assert len(walks["ephpm"]) >= 150


def test_only_known_differences(walks):
    bad = {}
    for name, nginx in walks["nginx"].items():
        if left := unexplained(name, nginx, walks["ephpm"][name], KNOWN):
            bad[name] = left
    assert not bad, "\n".join(f"{name}:\n  " + "\n  ".join(v) for name, v in bad.items())


def test_most_cases_are_identical(walks):
    same = {peer: sum(walks[peer][n] == walks["ephpm"][n] for n in walks["ephpm"])
            for peer in ("nginx", "apache")}
    assert same["nginx"] >= 118 and same["apache"] >= 80, same


def test_a_new_difference_would_be_seen():
    def left(nginx, ephpm):
        return unexplained("case", nginx, ephpm, KNOWN)

    assert left(["status: 200"], ["status: 500"]) == ["- status: 200", "+ status: 500"]
    assert left(["x-one: 1"], []) == ["- x-one: 1"]
    assert left([], ['    "REQUEST_ID": "0123456789abcdef",']) == []
    assert left(['    "REQUEST_ID": "0123456789abcdef",'], []) != []


def test_known_differences_are_documented():
    assert {k.heading for k in KNOWN} <= differences.headings()
