"""A fork server for all tests of a process; a bench, or a broker with an agent, for each test that needs one."""

import pytest

from scheduler.agent import spawner
from tests.scheduler.agent import bench as benches
from tests.scheduler.agent import controller as ends


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


@pytest.fixture
def broker(tmp_path):
    one = ends.Broker(tmp_path)
    one.up()
    yield one
    one.down()


@pytest.fixture
def controller(broker):
    one = ends.Controller(broker.url)
    yield one
    one.close()


@pytest.fixture
def agent(broker, tmp_path):
    one = ends.AgentProcess(tmp_path, broker.url)
    one.up()
    yield one
    if one.process.poll() is None:
        one.down()
