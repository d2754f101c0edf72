"""A replay submits in time and follows its sessions to the end."""

import collections

import pytest
from django.utils import timezone

from scheduler import models
from scheduler.services import rounds
from scheduler.traces import entries, plans, replay

PLAN = plans.Plan(group="trace", queues={}, other_queue="trace-normal")


def entry(number, *, at_ms=0, cpu="1"):
    return entries.Entry(number, f"pod-{number}", at_ms, 1000, {"cpu": cpu}, "BE")


def submit(owner, *chosen, rest=lambda seconds: None):
    ids = []
    replay.submit_all(owner, PLAN, chosen, on_submitted=ids.append, rest=rest)
    return ids


def end(session_ids, result="success"):
    """Set sessions to ended, as a report of their agent would."""
    models.Session.objects.filter(pk__in=session_ids).update(
        state="terminated", result=result, ended_at=timezone.now()
    )


def test_sessions_are_submitted_in_order_for_their_owner(owner):
    ids = submit(owner, entry(1), entry(2))
    sessions = models.Session.objects.filter(pk__in=ids).order_by("pk")

    assert [session.name for session in sessions] == ["pod-1", "pod-2"]
    assert {session.owner for session in sessions} == {owner.user}


def test_it_rests_until_the_time_of_the_next_entry(owner):
    rests = []
    submit(owner, entry(1), entry(2, at_ms=60_000), rest=rests.append)

    assert len(rests) == 1
    assert 30 < rests[0] <= 60


def test_waiting_sessions_are_alive(owner):
    ids = submit(owner, entry(1), entry(2))

    assert replay.standing(ids) == replay.Standing(collections.Counter(), never=0, alive=2)


def test_what_can_never_run_is_counted_apart(owner, group):
    ids = submit(owner, entry(1, cpu="1000"))
    rounds.run_group_round(group.pk)
    now = replay.standing(ids)

    assert (now.never, now.alive) == (1, 0)
    assert now.is_settled
    assert now.is_good
    assert str(now) == "1 can never run as asked, 0 alive"


@pytest.mark.parametrize(
    ("result", "is_good"),
    [("success", True), ("preempted", True), ("failure", False), ("lost", False), ("cancelled", False)],
)
def test_a_preemption_is_no_failure_but_the_rest_is(owner, result, is_good):
    ids = submit(owner, entry(1))
    end(ids, result)

    assert replay.standing(ids).is_good == is_good


def test_following_ends_when_all_are_settled(owner):
    ids = submit(owner, entry(1), entry(2))
    looks = []
    last = replay.follow(ids, limit_s=60, on_look=looks.append, rest=lambda seconds: end(ids))

    assert [look.alive for look in looks] == [2, 0]
    assert last.results == {"success": 2}


def test_following_ends_at_its_limit(owner):
    ids = submit(owner, entry(1))
    last = replay.follow(ids, limit_s=0, on_look=lambda now: None)

    assert not last.is_settled
