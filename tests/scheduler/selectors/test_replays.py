"""A stored round, run again."""

from __future__ import annotations

import pytest

from scheduler import core, models
from scheduler.selectors import replays, stored_rounds
from scheduler.simulator import world

pytestmark = pytest.mark.django_db
RULES = {"preemption_state": "on", "preemption_mode": "suspend"}


@pytest.fixture
def story():
    """A simulated cluster whose last round stopped somebody; `story.rows` are its stored rounds."""
    with world.World(RULES).running() as cluster:
        cluster.add_queue("q1")
        cluster.add_node("n1", {"cpu": 4000, "cuda.device": 2})
        cluster.obey()
        owner = cluster.owner("u1")
        full = {"cpu": 4000, "cuda.device": 2}
        for name, rank in (("low", 1), ("middle", 1), ("high", 9)):
            cluster.submit(owner, name=name, amounts=full, job_priority=rank)
            cluster.tick()
            cluster.advance(10)
        cluster.rows = list(models.Round.objects.select_related("base", "group").order_by("number"))
        yield cluster


def test_every_stored_round_comes_out_equal(story):
    assert [row.base is None for row in story.rows] == [True, False]
    for row in story.rows:
        found = replays.replay(row)
        assert (found.is_equal, found.is_same_version, found.changed) == (True, True, ())
    assert next(iter(found.now["preempt"].values()))["axis"] == "owner"


def test_nothing_is_written(story):
    before = (models.Event.objects.count(), models.Decision.objects.count(), models.Round.objects.count())
    replays.replay(story.rows[-1])

    assert before == (
        models.Event.objects.count(),
        models.Decision.objects.count(),
        models.Round.objects.count(),
    )


def test_another_outline_or_another_record_is_no_longer_equal(story, monkeypatch):
    row = story.rows[-1]
    other = stored_rounds.unpacked(row.outline) | {"dispatch": {"7": [1]}}
    row.outline = stored_rounds.packed(other)
    assert not replays.replay(row).is_equal

    row.refresh_from_db()
    monkeypatch.setattr(replays.snapshot, "to_plain", lambda decision: {"another": "record"})
    found = replays.replay(row)
    assert found.changed == (str(row.decisions.get().public_id),)
    assert not found.is_equal


def test_a_round_from_before_outlines_is_compared_by_its_decisions(story):
    row = story.rows[-1]
    row.outline = None

    assert replays.replay(row).is_equal


def test_another_version_is_said(story, monkeypatch):
    monkeypatch.setattr(core, "CORE_VERSION", "999")

    assert not replays.replay(story.rows[-1]).is_same_version


@pytest.mark.parametrize("how", ["id", "number", "decision"])
def test_a_round_is_found_by_id_by_group_and_number_and_by_a_decision(story, how):
    row = story.rows[-1]
    names = {"id": str(row.pk), "number": f"{world.GROUP}/{row.number}"}
    names["decision"] = str(row.decisions.get().public_id)

    assert replays.find(names[how]) == row


@pytest.mark.parametrize(
    "text",
    [
        "0",
        "nonsense",
        f"{world.GROUP}/999",
        "99999999999999999999",
        "00000000-0000-7000-8000-000000000000",
        "",
    ],
)
def test_an_unknown_round_is_named(db, text):
    with pytest.raises(replays.CannotReplay, match=f"there is no stored round '{text}'"):
        replays.find(text)


@pytest.mark.parametrize("which", ["own", "base"])
def test_a_snapshot_that_is_gone_is_said(story, which):
    base, row = story.rows
    models.Round.objects.filter(pk=row.pk if which == "own" else base.pk).update(snapshot=None)

    with pytest.raises(replays.CannotReplay, match="is not kept any more; its decisions are"):
        replays.replay(replays.find(str(row.pk)))


def test_a_damaged_snapshot_is_not_run(story):
    row = story.rows[0]
    row.digest = "f" * 64

    with pytest.raises(replays.CannotReplay, match="is damaged"):
        replays.replay(row)
