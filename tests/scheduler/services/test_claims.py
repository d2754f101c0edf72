"""Claims in the database: made by a round, kept from those behind, ended with the wait they stand for."""

from __future__ import annotations

import datetime

import pytest

from scheduler import clock, models
from scheduler.services import actors, control, policies


@pytest.fixture
def starving(make_cluster):
    """Return a cluster whose node is held by bob, and alice's session, which has lacked it for half an hour."""
    cluster = make_cluster()
    cluster.other = cluster.run(cluster.bob, cpu="2")
    cluster.first = cluster.submit(cluster.alice, cpu="4")
    cluster.round()
    since = clock.now() - datetime.timedelta(seconds=1800)
    models.Session.objects.filter(pk=cluster.first.pk).update(waiting_since=since)
    return cluster


def _node_names(session):
    return list(models.Claim.objects.get(session=session).nodes.values_list("name", flat=True))


def _reason(session):
    return models.PendReason.objects.get(session=session).reason


def _has_claim(session):
    return models.Claim.objects.filter(session=session).exists()


def _told(session, type_):
    return models.Event.objects.filter(type=type_, session=session).count()


def test_a_round_makes_it_once_and_tells_it(starving):
    starving.round()
    starving.round()

    assert _node_names(starving.first) == ["n1"]
    assert _reason(starving.first) == "holds-claim"
    assert _told(starving.first, "session.claims") == 1


def test_those_behind_wait_for_it_in_later_rounds_too(starving):
    starving.round()
    behind = starving.submit(starving.bob, cpu="1")
    for _ in range(2):
        starving.round()

    assert _reason(behind) == "room-claimed"
    assert _reason(starving.first) == "holds-claim"


def test_the_time_towards_a_claim_runs_on_behind_one(starving):
    starving.round()
    behind = starving.submit(starving.bob, cpu="1")
    starving.round()

    behind.refresh_from_db()
    assert behind.waiting_since is not None


def test_it_ends_when_its_holder_runs_not_when_its_start_fails(starving):
    starving.round()
    starving.agent.ends(starving.other)
    starving.round()
    starving.agent.fails_to_start(starving.first)
    assert _has_claim(starving.first)

    starving.round()
    starving.agent.starts(starving.first)

    assert not _has_claim(starving.first)


def test_it_does_not_count_while_its_holder_is_starting(starving):
    starving.round()
    starving.agent.ends(starving.other)
    starving.join("n2")
    models.Claim.objects.get(session=starving.first).nodes.set(models.Node.objects.filter(name="n2"))
    models.Node.objects.filter(name="n2").update(max_sessions=1)
    starving.round()
    behind = starving.submit(starving.bob, cpu="4")

    starving.round()

    behind.refresh_from_db()
    assert behind.state == "scheduled"


@pytest.mark.parametrize(
    "end",
    [
        lambda c: control.cancel_session(actors.of_user(c.alice), c.first),
        lambda c: control.hold_session(actors.of_user(c.alice), c.first),
        lambda c: control.change_session(actors.of_user(c.alice), c.first, job_priority=3),
    ],
    ids=["cancelled", "held", "edited"],
)
def test_it_ends_with_its_wait(starving, end):
    starving.round()

    end(starving)

    assert not _has_claim(starving.first)


def test_it_ends_where_the_group_keeps_none_any_more(starving):
    starving.round()

    policies.change_policy(
        actors.of_user(starving.admin),
        starving.group,
        changes={"starvation_after": 0},
        reason="no claims here",
        expected_version=1,
    )

    assert not _has_claim(starving.first)
    assert _told(starving.first, "session.claim_ended") == 1


def test_a_session_that_is_held_between_thinking_and_commit_gets_none(starving, between):
    between(lambda: control.hold_session(actors.of_user(starving.alice), starving.first))

    assert starving.round().dropped == 1

    assert not _has_claim(starving.first)


def test_rules_that_change_between_thinking_and_commit_leave_it_to_the_next_round(starving, between):
    between(
        lambda: policies.change_policy(
            actors.of_user(starving.admin),
            starving.group,
            changes={"starvation_after": 0},
            reason="no claims here",
            expected_version=1,
        )
    )

    starving.round()

    assert not _has_claim(starving.first)
    assert _reason(starving.first) == "no-resources"


def test_it_moves_when_its_node_drains(starving):
    starving.round()
    starving.join("n2")
    models.Node.objects.filter(name="n1").update(state="draining")
    starving.submit(starving.bob, cpu="1", priority=20)

    starving.round()

    assert _node_names(starving.first) == ["n2"]
    assert models.Event.objects.filter(type="session.claims", session=starving.first).last().data["moved"]
