"""`replay_round` from the command line."""

from __future__ import annotations

import io

import pytest
from django.core.management import CommandError, call_command

from scheduler import models
from scheduler.selectors import stored_rounds
from scheduler.simulator import world

pytestmark = pytest.mark.django_db


@pytest.fixture
def row():
    """A stored round in which a session of the owner is stopped for another."""
    with world.World({"preemption_state": "on"}).running() as cluster:
        cluster.add_queue("q1")
        cluster.add_node("n1", {"cpu": 4000})
        cluster.obey()
        for rank in (1, 9):
            cluster.submit(cluster.owner("u1"), name="s", amounts={"cpu": 4000}, job_priority=rank)
            cluster.tick()
        yield models.Round.objects.get()


def replay(name: object) -> tuple[str, str, int]:
    """Run the command; return what it said, its error and its exit code."""
    out = io.StringIO()
    try:
        call_command("replay_round", str(name), stdout=out)
    except CommandError as error:
        return out.getvalue(), str(error), error.returncode
    return out.getvalue(), "", 0


def test_the_same_version_decides_the_same(row):
    said, _, code = replay(row.pk)

    assert code == 0
    assert f"round {world.GROUP}/2 of 2030-01-01 00:00:00 UTC, 0 dispatched, 1 waiting, 1 preempting" in said
    assert "equal: all decisions; core version" in said


def other_decisions(row: models.Round, **columns: object) -> None:
    """Let the stored round say that it started the session instead."""
    (session,) = stored_rounds.unpacked(row.outline)["preempt"]
    outline = {"dispatch": {session: [1]}, "preempt": {}, "shadow": {}, "wait": {}, "pend": {}}
    models.Round.objects.filter(pk=row.pk).update(outline=stored_rounds.packed(outline), **columns)


def test_the_same_version_that_decides_otherwise_is_an_error_and_shows_both(row):
    other_decisions(row)
    said, error, code = replay(row.pk)

    assert code == 1
    assert "starts on node 1 | stops " in said
    assert "the same core version decides otherwise" in error


def test_another_version_is_shown_side_by_side(row):
    other_decisions(row, core_version="0.9")
    said, _, code = replay(row.pk)

    assert code == 0
    assert "core 0.9, then | core" in said
    assert "starts on node 1 | stops " in said


def test_another_version_that_decides_the_same_says_both_versions(row):
    models.Round.objects.filter(pk=row.pk).update(core_version="0.9")

    assert "equal: all decisions; core version 0.9 then," in replay(row.pk)[0]


def test_decisions_from_before_outlines_are_compared_alone(row):
    models.Round.objects.filter(pk=row.pk).update(outline=None)

    assert "equal: the stored decisions (the others were not kept)" in replay(row.pk)[0]


def test_what_cannot_be_run_again_says_why(row):
    assert replay("12345678") == (
        "",
        "there is no stored round '12345678': name it by its id, by GROUP/NUMBER or by the id of a decision",
        2,
    )
    models.Round.objects.update(snapshot=None)
    said, error, code = replay(row.pk)
    assert (said, code) == ("", 2)
    assert "the snapshot of round simulated/2 is not kept any more" in error
