# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""Fixtures of the integration tests.

A module whose tests share one server defines a fixture of its own:

    @pytest.fixture(scope="module")
    def server():
        with ephpm.Server(CONFIG, FILES) as s:
            yield s

A test that needs another configuration takes `serve`, which starts a server that ends with the
test. After each test every live server has to be idle and clean, see ephpm.Server.check().
"""
import os
import pathlib
import signal
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import pytest  # noqa: E402

import ephpm  # noqa: E402

# A shell ignores them in what it starts in the background, and all children would.
for number in signal.SIGINT, signal.SIGQUIT, signal.SIGHUP:
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, signal.SIG_DFL)


@pytest.fixture
def tmp_path():
    """One that the user can enter whom the server becomes; pytest's own is closed."""
    with tempfile.TemporaryDirectory(prefix="ephpm-test-", dir="/tmp") as path:
        os.chmod(path, 0o755)
        yield pathlib.Path(path)


def pytest_sessionstart(session):
    for program in ephpm.EPHPM, ephpm.EPHPM_PHP:
        if not os.access(program, os.X_OK):
            raise pytest.UsageError(f"{program} is missing: build it, or set EPHPM_BIN")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """In a parallel run a module's tests go to one process, and those of the applications to one:
    they share files and a database."""
    for item in items:
        group = "apps" if item.path.parent.name == "apps" else item.path.stem
        item.add_marker(pytest.mark.xdist_group(group))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Tells the fixtures whether the test failed, and shows the end of the servers' logs then."""
    outcome = yield
    report = outcome.get_result()
    if report.when == "call":
        item.failed = report.failed
        if report.failed:
            for s in ephpm.Server.live:
                report.sections.append((f"log of {s.dir.name}", s.log()[-6000:]))


@pytest.fixture(autouse=True)
def clean_servers(request):
    yield
    if not getattr(request.node, "failed", False):
        for s in list(ephpm.Server.live):
            s.check()


@pytest.fixture
def serve(request, clean_servers):
    """serve(config, files, ...) starts a server for this test only."""
    started = []

    def start(*args, **kwargs):
        s = ephpm.Server(*args, **kwargs)
        started.append(s)
        return s

    yield start
    for s in started:
        # The checks of a running server come before it is stopped.
        failed = getattr(request.node, "failed", False)
        try:
            if s.process is not None and not failed:
                s.check()
                s.stop()
            else:
                s.check_log()
        finally:
            s.__exit__(AssertionError)
