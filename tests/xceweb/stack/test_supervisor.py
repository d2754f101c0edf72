import dataclasses
import itertools
import pathlib
import signal
import subprocess

import pytest

from xceweb.stack import children, errors, services, supervisor, waiting


@dataclasses.dataclass
class Shell:
    """A server that is a shell script."""

    script: str
    log: pathlib.Path
    spawned: int = 0

    def prepare(self) -> None:
        pass

    def spawn(self) -> subprocess.Popen[bytes]:
        self.spawned += 1
        return children.spawn(["/bin/sh", "-c", self.script], log=self.log, account=None)

    def is_ready(self) -> bool:
        return self.log.exists() and "ready" in self.log.read_text()


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def watch(said, tmp_path):
    supervisor_ = supervisor.Supervisor(said.append, tmp_path)
    yield supervisor_
    supervisor_.stop()


@pytest.fixture
def service(tmp_path):
    numbers = itertools.count(1)

    def make(script: str) -> services.Service:
        name = f"server-{next(numbers)}"
        return services.Service(name, Shell(script, tmp_path / f"{name}.log"), grace_s=5, deadline_s=10)

    return make


def test_a_service_runs_after_its_gate(watch, service, said):
    watch.start(service("echo ready; sleep 60"))

    assert list(watch.pids()) == ["server-1"]
    assert said[0].split()[0] == "server-1"


def test_a_service_that_always_ends_is_given_up_at_its_first_start(watch, service):
    broken = service("echo broken; exit 3")

    with pytest.raises(errors.StackError, match=r"server-1 ended at once \(3\)"):
        watch.start(broken)
    assert broken.server.spawned == supervisor.FIRST_START_TRIES


def test_what_was_killed_is_started_again_and_said_in_one_line(watch, service, said):
    watch.start(service("echo ready; sleep 60"))
    first = watch.pids()["server-1"]
    kill(watch, "server-1")
    waiting.until(
        lambda: watch.look() or watch.pids().get("server-1"), deadline_s=10, what="the second start"
    )

    assert watch.pids()["server-1"] != first
    assert said[1:] == ["server-1 died (signal 9); started again in 0.5 s"]


def test_each_quick_death_doubles_the_delay_up_to_a_bound(watch, service, said, monkeypatch):
    monkeypatch.setattr(supervisor, "FIRST_DELAY_S", 0.01)
    monkeypatch.setattr(supervisor, "LONGEST_DELAY_S", 0.04)
    flag = pathlib.Path(watch._log_directory, "flag")
    watch.start(service(f"test -e {flag} && exit 1; touch {flag}; echo ready; read x; sleep 60"))
    watch._watched[0].delay_s = supervisor.FIRST_DELAY_S
    kill(watch, "server-1")
    waiting.until(lambda: watch.look() or len(said) > 4, deadline_s=10, what="four deaths")

    assert [line.split()[-2] for line in said[1:5]] == ["0.01", "0.02", "0.04", "0.04"]


def test_services_started_together_run_side_by_side(watch, service):
    meet = pathlib.Path(watch._log_directory, "meet")
    waits = (
        f"touch {meet}.$0; while ! test -e {meet}.b || ! test -e {meet}.a; do sleep 0.01; done; echo ready"
    )
    watch.start(*(service(f"set -- {name}; {waits.replace('$0', name)}; sleep 60") for name in "ab"))

    assert len(watch.pids()) == 2


def test_all_are_stopped_in_reverse_order(watch, service, tmp_path):
    order = tmp_path / "order"
    for name in ("one", "two", "three"):
        script = f"trap 'echo {name} >> {order}; exit' TERM; echo ready; while :; do sleep 0.01; done"
        watch.start(service(script))
    watch.stop()

    assert order.read_text().split() == ["three", "two", "one"]
    assert watch.pids() == {}


def kill(watch: supervisor.Supervisor, name: str) -> None:
    process = next(each.process for each in watch._watched if each.service.name == name)
    process.send_signal(signal.SIGKILL)
    process.wait()
