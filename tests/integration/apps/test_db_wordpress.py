# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""WordPress on the embedded database, with nothing changed but its credentials: the same tests as with
MariaDB, and its installer."""
import contextlib
import os
import subprocess
import tempfile

import pytest

import ephpm
from application import SHARED
from browser import Browser
from ephpm import free_port
from test_wordpress import *  # noqa: F401,F403 (its tests and fixtures)
from test_wordpress import APP, SETUP_ENV  # noqa: F401

ACCOUNT = {"WP_DB_NAME": "wp", "WP_DB_USER": "wp", "WP_DB_PASSWORD": "not-a-secret"}


@contextlib.contextmanager
def serve(app):
    """A server with an empty database; and what WordPress has to know of it."""
    port = free_port()
    env = {**ACCOUNT, "WP_DB_HOST": f"127.0.0.1:{port}"}
    with tempfile.TemporaryDirectory(prefix="ephpm-test-db-", dir="/tmp") as folder:
        os.chmod(folder, 0o777)  # the server is another user's
        with app.serve(env, {"db": {"sqlite": {
                "path": f"{folder}/wp.db", "user": "wp", "password": "not-a-secret",
                "proxy": {"mysql_listen": f"127.0.0.1:{port}"}}}}) as s:
            yield s, env


@pytest.fixture(scope="module")
def server(app):
    with serve(app) as (s, env):
        seeded = subprocess.run(
            [f"php{ephpm.php_minor()}", "-d", "error_reporting=0", "-d", "memory_limit=512M",
             SHARED / "wordpress/seed.php", app.public],
            env={**os.environ, **env}, capture_output=True, text=True, timeout=300)
        assert seeded.returncode == 0 and "posts: 41, pages: 7" in seeded.stdout, seeded
        yield s


def test_installer(app):
    with serve(app) as (s, _):
        browser = Browser(s)
        page = browser.get("/")
        assert page.url.endswith("/wp-admin/install.php"), page
        page = browser.submit(browser.get("/wp-admin/install.php?step=1"), {
            "weblog_title": "It's \"new\" & öld", "user_name": "owner", "admin_password": "pass phrase 1",
            "admin_password2": "pass phrase 1", "pw_weak": "1", "admin_email": "owner@example.test"},
            names=("weblog_title",))
        assert "Success!" in page.text, page
        page = browser.submit(browser.get("/wp-login.php"), {"log": "owner", "pwd": "pass phrase 1"})
        assert page.url == "/wp-admin/" and page.status == 200
        assert "It&#039;s &quot;new&quot; &amp; öld" in browser.get("/").text
        browser.close()
