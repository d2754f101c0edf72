"""A client that a generator made of `docs/openapi.yaml` submits, waits, and reads why."""

from __future__ import annotations

import importlib
import pathlib
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.system import stack as stacks
from xceweb.stack import privileges

pytestmark = [pytest.mark.system, pytest.mark.timeout(240)]
SCHEMA = privileges.PROJECT / "docs" / "openapi.yaml"
PACKAGE = "xce_client_of_the_schema"
#: More cores than all machines of the demo cluster have.
TOO_MANY = 5000


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Generate the client from the schema file as anybody would; a shape that the generator cannot read fails."""
    place = tmp_path_factory.mktemp("generated")
    config = place / "config.yaml"
    config.write_text("post_hooks: []\n")
    options = ["--path", str(SCHEMA), "--output-path", str(place / PACKAGE), "--config", str(config)]
    command = [sys.executable, "-P", "-m", "openapi_python_client", "generate", *options]
    done = subprocess.run(
        [*command, "--meta", "none", "--fail-on-warning"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    sys.path.insert(0, str(place))
    yield PACKAGE
    sys.path.remove(str(place))


class Client:
    """Calls the generated functions with a keypair of alice."""

    def __init__(self, package: str, stack: stacks.Stack) -> None:
        issued = stack.manage("keypairs", "alice", "--issue", "generated client").stdout.splitlines()
        access, secret = (line.split()[-1] for line in issued[:2])
        self.package = package
        made = self.part("client").AuthenticatedClient
        self.http = made(base_url=stack.base_url, token=f"{access}:{secret}", raise_on_unexpected_status=True)

    def part(self, name: str) -> Any:
        """Return one generated module."""
        return importlib.import_module(f"{self.package}.{name}")

    def call(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """Call one operation of the sessions; returns what it parsed."""
        return self.part(f"api.sessions.{name}").sync(*args, client=self.http, **kwargs)

    def submit(self, **fields: Any) -> Any:
        """Submit a session to the demo cluster."""
        asked = {"group": "batch", "queue": "normal", "slots": {"cpu": "0.1"}, **fields}
        return self.call("session_submit", body=self.part("models").SubmissionRequest.from_dict(asked))


@pytest.fixture(scope="module")
def client(package: str, stack: stacks.Stack) -> Iterator[Client]:
    """The generated client, with a keypair."""
    made = Client(package, stack)
    with made.http:
        yield made


def test_every_operation_has_its_function(package):
    names = [path.stem for path in pathlib.Path(sys.path[0], PACKAGE, "api").glob("*/*.py")]
    told = [line.split()[-1] for line in SCHEMA.read_text().splitlines() if "operationId:" in line]

    assert sorted(name for name in names if name != "__init__") == sorted(told)


def test_it_submits_waits_and_reads_the_output(client):
    made = client.submit(name="generated", argv=["echo", "written by a session"])
    over = stacks.until(
        lambda: (found := client.call("session_read", made.id)).state == "terminated" and found,
        what="the end of the session",
    )
    told = stacks.until(
        lambda: "written" in (found := client.call("session_output", made.id)).text and found,
        what="its output",
    )

    listed = client.call("session_list", q="name:generated", limit=5)

    assert (over.result, over.owner, told.text) == ("success", "alice", "written by a session\n")
    assert (made.id in [row.id for row in listed.results], listed.next_) == (True, None)


def test_it_reads_why_a_session_waits(client):
    made = client.submit(name="too large", argv=["true"], slots={"cpu": TOO_MANY})
    why = stacks.until(
        lambda: (found := client.call("session_explanation", made.id)).reason == "never-fits" and found,
        what="a reason of the wait",
    )
    ended = client.call("session_act", made.id, "cancel", body=client.part("models").ReasonRequest())

    assert (why.session, why.kind, bool(why.sentence)) == (made.id, "pending", True)
    assert ended.result == "cancelled"
