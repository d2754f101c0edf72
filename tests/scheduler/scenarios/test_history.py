"""What happened, in the names of the case."""

from __future__ import annotations

import pytest

from scheduler.core import states
from scheduler.scenarios import answers, cast, entries, history, rules
from scheduler.simulator import world

pytestmark = pytest.mark.django_db
CASE = entries.Case(
    "A",
    entries.Kind.LIFECYCLE,
    1,
    nodes=(entries.NodeEntry("n1", {"cpu": 4000}, {}),),
    queues=(entries.QueueEntry("q1"),),
)
HALF = {"cpu": 2000}


def running(name: str, **more) -> entries.SessionEntry:
    """Return a session that takes half of the node."""
    values = {"request": HALF, "alloc": {"n1": HALF}, "state": states.SessionState.RUNNING}
    return entries.SessionEntry(name, **values | more)


@pytest.fixture
def who():
    """A cast on a stage of one node."""
    with world.World(rules.DEFAULTS).running() as cluster:
        found = cast.Cast(CASE, cluster)
        found.set_up(entries.Config(rules.DEFAULTS), {"cpu"})
        yield found


def test_sessions_that_run_started_one_after_the_other_unless_they_say_when(who):
    who.run(running("a"))
    who.run(running("b"))

    first, second = who.history.row("a"), who.history.row("b")
    assert (world.BEGIN - first.started_at).total_seconds() == 3600
    assert (world.BEGIN - second.started_at).total_seconds() == 3599
    assert first.submitted_at == first.started_at


def test_places_in_the_order_of_submission_lie_in_the_past(who):
    late = who.submit(entries.SessionEntry("late", request=HALF, submitted=2))
    early = who.submit(entries.SessionEntry("early", request=HALF, submitted=1))

    assert early.submitted_at < late.submitted_at < world.BEGIN


def test_an_answer_is_what_became_of_a_session(who):
    who.run(running("a", job_priority=1))
    who.submit(entries.SessionEntry("p", request=HALF, job_priority=9))
    who.submit(entries.SessionEntry("q", request={"cpu": 4000}, owner="u2"))
    who.world.tick()

    assert who.history.answer("p") == answers.Answer(answers.Outcome.PLACE, target="n1")
    assert who.history.answer("q") == answers.Answer(answers.Outcome.PEND, reason="no-resources")


def test_who_waits_for_what_is_being_stopped_anyway_stops_nobody(who):
    who.run(running("a", job_priority=1, request={"cpu": 4000}, alloc={"n1": {"cpu": 4000}}))
    for name in ("p", "q"):
        who.submit(entries.SessionEntry(name, request=HALF, job_priority=9))
    who.world.tick()
    who.history.look(1, is_tick=True)

    stop = answers.Answer(
        answers.Outcome.PREEMPT, ("a",), "n1", answers.Rule.LOWEST_FIRST, "awaiting-victims"
    )
    assert who.history.answer("p") == stop
    assert who.history.answer("q") == answers.Answer(
        answers.Outcome.WAIT, target="n1", reason="awaiting-release"
    )
    (seen,) = who.history.looks
    assert seen.kept["p"] == history.Kept("n1", {}, HALF, {"cpu": 4000})
    assert seen.used == {"n1": {"cpu": 4000}}
    assert who.history.notices("a") == ["started", "warned"]
