"""A stored decision as a file that can be handed in."""

from __future__ import annotations

import dataclasses
import random

import pytest
from django.db import transaction

from scheduler import models
from scheduler.core import entities, snapshot, states
from scheduler.scenarios import answers, located, playing, reading, written
from scheduler.selectors import stored_rounds
from scheduler.simulator import habits, world
from tests import decision_factories, factories, model_factories

pytestmark = pytest.mark.django_db
RULES = {
    "preemption_state": "on",
    "preemption_mode": "suspend",
    "preemption_order": "newest",
    "grace_period": 5,
}
DEVICES = {"cpu": 8000, "mem": 8 << 30, "cuda.device": 4}
TWO = {"cpu": 1500, "mem": 1 << 30, "cuda.device": 2}


@pytest.fixture
def cluster():
    """A cluster of two nodes with a past: suspended, stopped and waiting sessions, reservations and edges."""
    with world.World(RULES, habits=habits.LIVELY).running() as made:
        made.declare({"fpga"})
        low = made.add_queue("low", preemptible=True)
        made.add_queue("q1").preemptible_queues.set([low])
        for name in ("secret-b", "secret-a"):
            made.add_node(name, DEVICES | {"fpga": 2000})
        made.obey()
        for place in range(9):
            owner = made.owner(f"secret-{place % 2}")
            made.submit(owner, name="secret", amounts=TWO, job_priority=place, priority=10 + place)
            made.tick()
            made.advance(7)
        yield made


def test_every_stored_decision_can_be_handed_in_and_gives_the_same_again(cluster):
    rows = list(models.Decision.objects.order_by("pk"))
    assert len(rows) >= 4

    for decision in rows:
        made = written.write(str(decision.public_id))
        assert made.result.verdict is answers.Verdict.PASSED, made.result.why
        assert "secret" not in made.text


def test_why_a_session_waits_can_be_handed_in(cluster):
    waits = list(models.PendReason.objects.select_related("session"))
    assert len({wait.reason for wait in waits}) >= 2

    for wait in waits:
        made = written.write(str(wait.session.public_id))
        assert made.result.verdict is answers.Verdict.PASSED, made.result.why
        assert f"reason: {wait.reason}" in made.text
        assert "secret" not in made.text


def test_a_wait_whose_round_is_not_stored_cannot_be_written(cluster):
    wait = models.PendReason.objects.latest("pk")
    models.PendReason.objects.update(since=world.BEGIN - world.PAST)

    with pytest.raises(written.CannotWrite, match="is not stored"):
        written.write(str(wait.session.public_id))


#: Rules under which many rounds were stored: both axes, takeovers, suspended victims, several nodes.
GROUPS = [
    {"preemption_scope": "owner", "preemption_mode": "terminate"},
    {"preemption_scope": "owner_then_queue", "preemption_mode": "suspend", "suspend_releases": ["cpu"]},
    {"preemption_scope": "queue", "preemption_mode": "reschedule", "preemption_order": "smallest-resources"},
]


@pytest.mark.parametrize("seed", range(3))
def test_every_round_of_a_random_past_can_be_handed_in(seed):
    chance = random.Random(seed)
    rules = {"preemption_state": "on", "grace_period": 5, **GROUPS[seed]}
    with world.World(rules, habits=habits.LIVELY).running() as made:
        low = made.add_queue("secret-low", preemptible=True)
        made.add_queue("secret-high").preemptible_queues.set([low])
        for place in range(3):
            made.add_node(f"secret-{place}", {"cpu": 8000, "mem": 8 << 30})
        made.obey()
        for _ in range(20):
            _something_happens(made, chance)

        found = [str(row.public_id) for row in models.Decision.objects.order_by("pk")]
        found += [str(row.session.public_id) for row in models.PendReason.objects.select_related("session")]
        assert len(found) >= 12
        results = [written.write(public_id) for public_id in found]
        assert [
            each.result.why for each in results if each.result.verdict is not answers.Verdict.PASSED
        ] == []
        assert not any("secret" in each.text for each in results)


def _something_happens(made: world.World, chance: random.Random) -> None:
    """Submit one session and let a round run, and some time pass."""
    made.submit(
        made.owner(f"secret-{chance.randrange(2)}"),
        name="secret",
        queue=chance.choice(("secret-low", "secret-high")),
        amounts={"cpu": chance.randint(2, 8) * 1000, "mem": chance.randint(1, 6) << 30},
        node_count=chance.choice((1, 1, 1, 2)),
        priority=chance.randint(0, 90),
        job_priority=chance.randint(-5, 5),
    )
    made.tick()
    made.advance(chance.choice((1, 3, 8)))


def test_the_file_runs_alone_and_expects_the_stored_victims(cluster):
    decision = models.Decision.objects.filter(kind="preempt").latest("pk")
    made = written.write(str(decision.public_id))
    (case,) = reading.cases(located.parse(made.text))

    got = playing.run(case, lambda case: pytest.fail("no story"))
    assert got.verdict is answers.Verdict.PASSED
    assert len(case.expect["per_pending"].popitem()[1]["victims"]) == decision.victims.count()


def test_a_shadow_decision_is_written_as_what_it_would_have_been():
    with world.World(RULES | {"preemption_state": "shadow"}).running() as made:
        made.add_queue("q1")
        made.add_node("n1", {"cpu": 4000})
        made.obey()
        for rank in (1, 9):
            made.submit(made.owner("u1"), name="s", amounts={"cpu": 4000}, job_priority=rank)
            made.tick()
        decision = models.Decision.objects.get(kind="shadow")

        assert written.write(str(decision.public_id)).result.pending["s2"].victims == ("s1",)


def test_what_this_core_decides_otherwise_is_said(cluster, monkeypatch):
    decision = models.Decision.objects.filter(kind="preempt").latest("pk")
    monkeypatch.setattr(written.neutral_names, "names_of", lambda names, ids: [])

    assert written.write(str(decision.public_id)).result.verdict is answers.Verdict.FAILED


def handed_in(monkeypatch, view, expected):
    """Write session 9 of a snapshot as if a round of it were stored."""
    group = model_factories.a_group()
    row = decision_factories.a_round(group, snapshot=stored_rounds.packed(snapshot.to_plain(view)))
    stored = written._Stored(row, 9, lambda names: expected(names))
    monkeypatch.setattr(written, "_find", lambda public_id: stored)
    return written.write("any")


def test_who_stands_behind_is_written_where_it_depends_on_them(monkeypatch):
    """Session 9 stands first by its owner's ranking: without the one whose place it has, session 2 would resume."""
    half = factories.slots(cpu=2)
    rests = dataclasses.replace(
        factories.a_running(2, half, owner_id=2, state=states.SessionState.SUSPENDED, submitted_at=2),
        allocations=(),
        resume_slots=(entities.Allocation(1, half),),
    )
    runs = factories.a_running(1, half, job_priority=1)
    first = factories.a_session(3, factories.slots(cpu=4), job_priority=5, submitted_at=1)
    asks = factories.a_session(9, factories.slots(cpu=4), job_priority=9, submitted_at=3)
    view = factories.a_snapshot([runs, rests, first, asks])

    made = handed_in(
        monkeypatch,
        view,
        lambda names: {"outcome": "preempt", "victims": [names.sessions[1]], "target": "n1"},
    )

    assert made.result.verdict is answers.Verdict.PASSED, made.result.why
    assert made.text.count("owner: u1") == 3


def test_what_shadow_would_have_done_is_written_as_shadow_where_the_line_counts(monkeypatch):
    """Shadow lets session 10 start first; switched on, session 9 would need one victim less."""
    rules = dataclasses.replace(factories.ON, state=entities.PreemptionState.SHADOW)
    runs = [factories.a_running(n, factories.slots(cpu=3 - n), job_priority=1) for n in (1, 2)]
    asks = factories.a_session(9, factories.slots(cpu=3), job_priority=9, priority=20)
    behind = factories.a_session(10, factories.slots(cpu=1), owner_id=2, priority=10)
    view = factories.a_snapshot([*runs, asks, behind], policy=rules)

    made = handed_in(
        monkeypatch, view, lambda names: {"outcome": "preempt", "victims": ["s1", "s2"], "target": "n1"}
    )

    assert made.result.verdict is answers.Verdict.PASSED, made.result.why
    assert "tells_shadow: true" in made.text


def test_what_a_foreign_policy_failed_at_and_what_it_chose_are_written_without_its_name(monkeypatch):
    queues = (
        factories.a_queue(1, preemptible_queues=frozenset({2}), preempt_policy="secret.policy"),
        factories.a_queue(2, preemptible=True),
    )
    low = factories.a_running(1, factories.slots(cpu=4), owner_id=2, queue_id=2, priority=1)
    view = factories.a_snapshot([low, factories.a_session(9, factories.slots(cpu=4))], queues=queues)
    for expected in (
        {"outcome": "pend", "reason": "policy-failed"},
        {"outcome": "preempt", "victims": ["s1"], "target": "n1"},
    ):
        made = handed_in(monkeypatch, view, lambda names, expected=expected: expected)

        assert made.result.verdict is answers.Verdict.PASSED, made.result.why
        assert "secret" not in made.text


@pytest.mark.parametrize(
    ("public_id", "message"),
    [
        ("nonsense", "'nonsense' is no id of a decision"),
        (
            "00000000-0000-7000-8000-000000000000",
            "there is no decision 00000000-.*, and no session of that id that waits",
        ),
    ],
)
def test_an_unknown_decision_is_named(public_id, message):
    with pytest.raises(written.CannotWrite, match=message):
        written.write(public_id)


def test_a_decision_whose_snapshot_is_gone_cannot_be_written(cluster):
    decision = models.Decision.objects.latest("pk")
    with transaction.atomic():
        models.Round.objects.update(snapshot=None)

    with pytest.raises(written.CannotWrite, match="is not kept any more"):
        written.write(str(decision.public_id))
