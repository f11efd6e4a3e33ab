# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""Real applications, each served by a server of its own for the tests of its module. What the tests
add to an application they take away again.
"""
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from application import SHARED, App, on_debian_12  # noqa: E402
from browser import Browser  # noqa: E402


@pytest.fixture(scope="module")
def app(request):
    """The application that the module names as APP."""
    return App(request.module.APP, getattr(request.module, "SETUP_ENV", lambda: None)())


@pytest.fixture(scope="module")
def server(app):
    with app.serve() as s:
        yield s


@pytest.fixture
def browser(server):
    b = Browser(server)
    yield b
    b.close()


@pytest.fixture
def new_browser(server):
    """new_browser() is another visitor."""
    made = []

    def make():
        made.append(Browser(server))
        return made[-1]

    yield make
    for b in made:
        b.close()


@pytest.fixture
def checks(app, server):
    """The application's own list of paths, statuses and texts; returns what failed."""
    if app.name in ("dokuwiki", "wordpress") and not on_debian_12():
        pytest.skip("the list is for the version of Debian 12")

    def run():
        r = subprocess.run([SHARED / "check-app.sh", app.folder, server.url], text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
        return "" if r.returncode == 0 else r.stdout

    return run
