"""
Fixtures with whole stacks. `stack` is the demo cluster, shared by all tests of the session that use it: a
test that changes policies or kills processes leaves it as it was.
"""

import pathlib
from collections.abc import Iterator

import pytest

from tests.system import stack as stacks
from tests.system import sweep


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[stacks.Stack]:
    """The demo cluster, ready: base_url, logins, env, data_dir, process(name), kill(name), manage(...)."""
    with stacks.running(tmp_path_factory.mktemp("demo"), environ={"XCE_LOG_JSON": "1"}) as running:
        yield running


@pytest.fixture(autouse=True)
def _swept(request: pytest.FixtureRequest) -> Iterator[None]:
    """After each test on the shared stack: no process without its session, no session without its processes."""
    yield
    if "stack" in request.fixturenames:
        sweep.check(request.getfixturevalue("stack"))


@pytest.fixture
def data_dir(tmp_path: pathlib.Path) -> pathlib.Path:
    """A data directory for a stack of the test's own."""
    return tmp_path / "data"
