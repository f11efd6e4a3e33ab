# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""A few thousand mutated requests; tests/torture/mutated-requests sends as many as wanted."""
import random

import pytest

import barrage
import mutation

SEED = 1


@pytest.fixture(scope="module", params=["usual", "tight"])
def server(request):
    with barrage.start_server(request.param == "tight") as s:
        s.tight = request.param == "tight"
        yield s


def test_mutated_requests_leave_the_server_as_it_was(server):
    b = barrage.Barrage(server, SEED)
    b.run(range(2000))
    b.finish()
    # Neither all refused nor all accepted, or the mutations are not worth their name.
    assert b.taken == 2000 and b.stats["scripts"] > 300 and b.stats[400] > 200, b.stats
    assert (b.stats[413] > 50) == server.tight, b.stats


def test_mutations_repeat():
    for i in range(50):
        assert mutation.mutated(SEED, i) == mutation.mutated(SEED, i) != mutation.mutated(2, i)
    assert all(r.render(random.Random(1)) for r in mutation.CORPUS)


class Replay:
    """A socket that gives these bytes, then the end."""

    def __init__(self, data):
        self.data = data

    def recv(self, _):
        data, self.data = self.data, b""
        return data


@pytest.mark.parametrize("data, what", [
    (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhal", "closed within a response"),
    (b"HTTP/1.1 200 OK\r\nX-Token: 1-abc\r\nContent-Length: 0\r\n\r\n", "not awaited"),
    (b"HTTP/1.1 200 OK\r\nX-Item: 99999\r\nContent-Length: 0\r\n\r\n", "another request"),
    (b"HTTP/1.1 204 No Content\r\nContent-Length: 4\r\n\r\nbody", "announces a body"),
    (b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx", "twice"),
    (b"garbage", "no head"), (b"HTTP/1.1 twice\r\n\r\n", "status line"),
])
def test_wrong_responses_would_be_seen(server, data, what):
    b = barrage.Barrage(server, SEED)
    client = barrage.Client(b, [7], random.Random(1))
    client.sock.close()
    client.sock = Replay(data)
    with pytest.raises(barrage.Malformed, match=what):
        client.read()
        client.read()
