# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""Which kind of interpreter PHP has is said everywhere in the same way: HYBRID, CALL or TAILCALL.

EPHPM_VM_KIND in the environment says what the tested program must have; tests/lanes sets it.
"""
import functools
import json
import os
import re
import subprocess

import pytest

from ephpm import EPHPM, EPHPM_PHP, Server

INDEX = {"index.php": "<?php echo 'ok';"}


@functools.cache
def kind():
    out = subprocess.run([EPHPM_PHP, "--role=version"], stdout=subprocess.PIPE, text=True).stdout
    return re.fullmatch(r"ephpm-php \S+, PHP \S+, VM ([A-Z]+)\n", out).group(1)


def is_distribution():
    libraries = subprocess.run(["ldd", EPHPM_PHP], stdout=subprocess.PIPE, text=True).stdout
    return "libphp" in libraries


def ready(server):
    return json.loads(server.get("/_ephpm/ready?verbose").text)["generations"]


def test_kind_is_what_it_was_built_for():
    wanted = os.environ.get("EPHPM_VM_KIND")
    if not wanted and not is_distribution():
        pytest.skip("nothing says what it was built for")
    assert kind() == (wanted or "HYBRID")  # all of Debian's


def test_version_says_it():
    run = subprocess.run([EPHPM, "--version"], stdout=subprocess.PIPE, text=True)
    assert run.returncode == 0
    assert re.search(rf"^ephpm-php .*, PHP 8\.\d+\.\S+, VM {kind()}$", run.stdout, re.M)


def test_server_says_it():
    with Server({}, INDEX) as s:
        assert re.search(rf" serving .*\bvm={kind()}\b", s.log())
        assert re.search(rf" generation_active .*\bvm={kind()}\b", s.log())
        before, = ready(s)
        status, = s.status()["generations"]
        assert (before["vm"], before["php"]) == (status["vm"], status["php"])
        assert before["vm"] == kind()
        assert s.cli("deploy").returncode == 0
        newest = ready(s)[-1]
        assert (newest["id"], newest["vm"]) == (2, kind())


def test_site_that_a_request_opens_says_it():
    files = {**INDEX, "sites/a.test/index.php": INDEX["index.php"]}
    with Server({"server": {"sites_dir": "{root}/sites"}}, files) as s:
        assert s.get("/", {"Host": "a.test"}).text == "ok"
        found = {g["site"]: g["vm"] for g in ready(s)}
        assert found["a.test"] == kind()


def test_tail_calls_have_no_jit_before_8_5():
    if kind() != "TAILCALL":
        pytest.skip(f"the interpreter is {kind()}")
    with Server({"php": {"opcache_jit": "tracing"}}, INDEX) as s:
        php = s.status()["generations"][0]["php"]
        if php >= "8.5":
            pytest.skip("8.5 has a JIT for it")
        assert s.status()["generations"][0]["jit"] == "off"
        assert s.log_lines("config_warning") and "TAILCALL" in s.log_lines("config_warning")[0]
        assert "(TAILCALL)" in s.log_lines(" jit ")[0]
        assert s.get("/").text == "ok"
