"""A fork server for all tests of a process, and a bench for each test that needs an agent."""

import pytest

from scheduler.agent import spawner
from tests.scheduler.agent import bench as benches


@pytest.fixture(scope="session")
def forks():
    server = spawner.Spawner()
    yield server
    server.close()


@pytest.fixture
async def bench(tmp_path, forks):
    one = benches.Bench(tmp_path, forks)
    await one.up()
    yield one
    await one.clear()
