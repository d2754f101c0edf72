"""
Real agents, supervisors and jobs, killed in every combination, and what the next agent says of each session.

A session that its supervisor outlived has its true exit status; one whose supervisor died has none, and says so;
after a reboot nothing is left. Each test takes four sessions side by side through one death.
"""

import os
import pathlib
import signal

import pytest

from scheduler.agent import processes
from scheduler.protocol import messages
from tests.scheduler.agent import bench as benches
from tests.scheduler.agent import controller as ends

TURNS = range(10 if os.environ.get("XCE_NIGHT") else 1)
#: Runs until its file `go` is there, then ends with 7; says so when it is warned, and goes on.
JOB = """
trap 'touch "$PLACE/warned"' TERM
while ! [ -e "$PLACE/go" ]; do sleep 0.02; done
exit 7
"""
#: death -> the agent dies; the supervisors die; the machine dies.
DEATHS = {
    "agent": (True, False, False),
    "upgrade": (True, False, False),
    "supervisor": (False, True, False),
    "both": (True, True, False),
    "reboot": (True, True, True),
}
KNOWN, UNKNOWN, GONE = (7, None, True, "self"), (None, None, False, "self"), (None, None, False, "gone")
KILLED, KILLED_UNKNOWN = (None, signal.SIGKILL, True, "killed"), (None, None, False, "killed")


class Job:
    """One session and its place for signs."""

    def __init__(self, place: pathlib.Path, controller: ends.Controller) -> None:
        place.mkdir()
        self.place, self._controller, self.epoch = place, controller, 1
        self.start = benches.a_start(script=JOB, env={"PLACE": str(place)})
        self.pid = controller.ask(self.start, messages.Started).pid
        self.identity = processes.look(self.pid).identity
        self.shepherd = processes.look(processes.look(self.pid).parent).identity

    def about(self, kind, **more):
        facts = {"command_id": benches.new_id(), "session": self.start.session, "epoch": self.epoch}
        return kind(**facts | more)

    def go(self):
        (self.place / "go").touch()

    def suspend(self):
        stop = self.about(messages.StopCommand, action="suspend", mode="suspend")
        self._controller.ask(stop, messages.Stopped)

    def resume(self):
        self.epoch += 1
        self._controller.ask(self.about(messages.ResumeCommand), messages.Resumed)

    def kill(self, grace_ms):
        self._controller.tell(self.about(messages.KillCommand, cause="cancelled", grace_ms=grace_ms))

    def end(self):
        """Wait for the report of its end: exit code, signal, whether it is known, cause."""
        ended = self._controller.report(messages.Ended, session=self.start.session)
        return ended.exit_code, ended.signal, ended.known, str(ended.cause)


@pytest.fixture
def jobs(controller, agent, tmp_path):
    controller.report(messages.Hello)
    names = ("running", "suspended", "ended", "warned")
    found = {name: Job(tmp_path / name, controller) for name in names}
    yield found
    for job in found.values():
        for identity in processes.carrying(f"XCE_SESSION_ID={job.start.session}"):
            processes.send(identity, signal.SIGKILL)


def strike(death, agent, jobs, controller):
    """Carry the death out, let one session end meanwhile, and have an agent that works."""
    hits_agent, hits_shepherds, hits_machine = DEATHS[death]
    if hits_agent:
        agent.down(signal.SIGKILL)
    victims = [job.shepherd for job in jobs.values()] if hits_shepherds else []
    victims += [job.identity for job in jobs.values()] if hits_machine else []
    for identity in victims:
        processes.send(identity, signal.SIGKILL)
    if victims and not hits_agent:
        agent.until_it_says(f"session {jobs['ended'].start.session} died; its job was adopted")
    jobs["ended"].go()
    controller.until(lambda: not any(map(processes.is_alive, victims)), "the dead are gone")
    controller.until(lambda: not processes.is_alive(jobs["ended"].identity), "one session ends meanwhile")
    if hits_agent:
        greeted = len(controller.reports(messages.Hello))
        agent.up(version="2.0-next" if death == "upgrade" else "", boot="another" if hits_machine else "")
        controller.until(
            lambda: len(controller.reports(messages.Hello)) > greeted, "the next agent says hello"
        )


@pytest.mark.parametrize("turn", TURNS)
@pytest.mark.parametrize(
    ("death", "by_itself", "meanwhile", "killed"),
    [
        ("agent", KNOWN, KNOWN, KILLED),
        ("upgrade", KNOWN, KNOWN, KILLED),
        ("supervisor", UNKNOWN, UNKNOWN, KILLED_UNKNOWN),
        ("both", UNKNOWN, GONE, KILLED_UNKNOWN),
    ],
)
def test_P03_every_session_outlives_the_deaths_around_it_and_its_end_is_told_truly(
    agent, controller, jobs, death, by_itself, meanwhile, killed, turn
):
    jobs["suspended"].suspend()
    jobs["warned"].kill(600_000)
    controller.until((jobs["warned"].place / "warned").exists, "the warning was delivered")

    strike(death, agent, jobs, controller)

    assert jobs["ended"].end() == meanwhile
    assert processes.look(jobs["suspended"].pid).state == "T"
    assert processes.is_alive(jobs["running"].identity)
    jobs["suspended"].resume()
    for name in ("running", "suspended"):
        jobs[name].go()
        assert jobs[name].end() == by_itself
    jobs["warned"].kill(0)
    assert jobs["warned"].end() == killed
    if death == "upgrade":
        assert [h.agent_version for h in controller.reports(messages.Hello)][-1] == "2.0-next"


def test_P03_after_a_reboot_every_session_is_gone_with_an_unknown_status(agent, controller, jobs):
    jobs["suspended"].suspend()

    strike("reboot", agent, jobs, controller)

    assert {name: job.end() for name, job in jobs.items()} == dict.fromkeys(jobs, GONE)
    assert not any(processes.is_alive(job.identity) for job in jobs.values())
