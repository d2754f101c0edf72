"""One fork server for all conformance tests of a process."""

import pytest

from scheduler.agent import spawner


@pytest.fixture(scope="session")
def forks():
    server = spawner.Spawner()
    yield server
    server.close()
