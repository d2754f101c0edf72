"""A stored decision as a file that can be handed in."""

from __future__ import annotations

import pytest
from django.db import transaction

from scheduler import models
from scheduler.scenarios import answers, located, playing, reading, written
from scheduler.simulator import habits, world

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
    monkeypatch.setattr(written.neutral, "names_of", lambda names, ids: [])

    assert written.write(str(decision.public_id)).result.verdict is answers.Verdict.FAILED


@pytest.mark.parametrize(
    ("public_id", "message"),
    [
        ("nonsense", "'nonsense' is no id of a decision"),
        ("00000000-0000-7000-8000-000000000000", "there is no decision 00000000"),
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
