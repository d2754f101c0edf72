"""Queues are changed together, by whoever saw them as they are, and a queue that is removed leaves every list."""

from __future__ import annotations

import pytest
from django.contrib.auth import models as auth

from scheduler import errors, models
from scheduler.services import actors, queues
from tests import model_factories

WHY = "a test of queues"


@pytest.fixture
def admin(db):
    return actors.of_user(model_factories.an_administrator("root"), request_id="r-1")


@pytest.fixture
def made(db):
    """Three queues of a group: high may preempt from low."""
    group = model_factories.a_group("gpu")
    low = model_factories.a_queue("low", groups=[group], preemptible=True)
    high = model_factories.a_queue("high", groups=[group], preempts=[low])
    return {"low": low, "high": high, "mid": model_factories.a_queue("mid", groups=[group])}


def _audit():
    rows = models.ConfigChange.objects.filter(object_type="queue").order_by("pk")
    return [(row.object_name, row.before, row.after, row.reason, row.actor_name) for row in rows]


def _takes(name):
    return sorted(models.Queue.objects.get(slug=name).preemptible_queues.values_list("slug", flat=True))


def test_p05_several_queues_change_together_each_with_one_row(admin, made):
    wishes = [
        queues.Wish(made["high"], {"preemptible_queues": ["mid", "low"]}, 1),
        queues.Wish(made["mid"], {"preemptible": True, "preemptible_queues": []}, 1),
    ]

    queues.change_queues(admin, wishes, reason=f"  {WHY} ")

    assert _audit() == [
        ("high", {"preemptible_queues": ["low"]}, {"preemptible_queues": ["low", "mid"]}, WHY, "root"),
        ("mid", {"preemptible": False}, {"preemptible": True}, WHY, "root"),
    ]
    assert [queue.version for queue in models.Queue.objects.order_by("slug")] == [2, 1, 2]
    assert models.Event.objects.filter(type="queue.changed").count() == 2
    assert models.GroupRounds.objects.get().asked == 1


def test_one_queue_that_somebody_changed_meanwhile_stops_all(admin, made):
    queues.change_queue(admin, made["high"], changes={"description": "new"}, reason=WHY)

    with pytest.raises(errors.Conflict, match="root changed queue high meanwhile") as caught:
        queues.change_queues(
            admin,
            [
                queues.Wish(made["mid"], {"preemptible": True}, 1),
                queues.Wish(made["high"], {"preemptible_queues": []}, 1),
            ],
            reason=WHY,
        )

    assert caught.value.facts["current"].version == 2
    assert (_takes("high"), models.Queue.objects.get(slug="mid").preemptible) == (["low"], False)
    assert len(_audit()) == 1


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"preemptible_queues": ["high"]}, "invalid"),
        ({"preemptible_queues": ["low", "nowhere"]}, "unknown-queue"),
        ({"preempt_policy": "cheapest"}, "unknown-policy"),
        ({"submit_users": ["nobody"]}, "invalid"),
        ({"submit_teams": ["nobody"]}, "invalid"),
        ({"max_slots": {"npu": 1}}, "invalid"),
        ({"max_slots": {"cpu": -1}}, "invalid"),
        ({"max_concurrent_sessions": -1}, "invalid"),
        ({"state": "ajar"}, "invalid"),
        ({"default_priority": 60, "max_priority": 50}, "invalid"),
        ({"slug": "other"}, "invalid"),
        ({"preemptible_queues": ["low"], "description": ""}, "no-change"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_written(admin, made, changes, code):
    with pytest.raises(errors.Refusal) as caught:
        queues.change_queue(admin, made["high"], changes=changes, reason=WHY)

    assert caught.value.code == code
    assert (_audit(), _takes("high"), models.Queue.objects.get(slug="high").version) == ([], ["low"], 1)


def test_a_change_needs_a_reason_and_an_administrator(admin, made):
    manager = model_factories.a_user("manny", role="manager", group=models.ResourceGroup.objects.get())

    with pytest.raises(errors.Refusal, match="write why"):
        queues.change_queue(admin, made["high"], changes={"state": "stopped"}, reason=" ")
    for act in (
        lambda who: queues.change_queue(who, made["high"], changes={"state": "stopped"}, reason=WHY),
        lambda who: queues.remove_queue(who, made["high"], reason=WHY),
    ):
        with pytest.raises(errors.NotAllowed):
            act(actors.of_user(manager))
    assert _audit() == []


def test_submitters_are_named_and_an_emptied_list_is_empty(admin, made):
    model_factories.a_user("alice")
    auth.Group.objects.create(name="lab")
    names = {"submit_users": ["alice"], "submit_teams": ["lab"]}

    row = queues.change_queue(admin, made["mid"], changes=names, reason=WHY)
    assert (row.submit_users.get().username, row.submit_teams.get().name) == ("alice", "lab")
    queues.change_queue(admin, row, changes={"submit_users": [], "submit_teams": []}, reason=WHY)

    assert not row.submit_users.exists()
    assert not row.submit_teams.exists()


def test_a_queue_whose_policy_vanished_can_be_stopped_and_keeps_the_name(admin, made):
    models.Queue.objects.filter(slug="high").update(preempt_policy="vanished")

    queues.change_queue(admin, made["high"], changes={"state": "stopped"}, reason=WHY)

    row = models.Queue.objects.get(slug="high")
    assert (row.state, row.preempt_policy) == ("stopped", "vanished")


def test_a_removed_queue_leaves_the_lists_that_named_it(admin, made):
    made["mid"].preemptible_queues.set([made["low"], made["high"]])

    queues.remove_queue(admin, made["low"], reason=WHY, expected_version=1)

    assert not models.Queue.objects.filter(slug="low").exists()
    assert (_takes("high"), _takes("mid")) == ([], ["high"])
    told = [(name, before.get("preemptible_queues"), after) for name, before, after, _, _ in _audit()]
    assert told == [
        ("high", ["low"], {"preemptible_queues": []}),
        ("mid", ["high", "low"], {"preemptible_queues": ["high"]}),
        ("low", [], {}),
    ]
    assert _audit()[-1][1]["preemptible"] is True


def test_a_queue_with_sessions_is_not_removed(admin, made):
    group = models.ResourceGroup.objects.get()
    model_factories.a_session(owner=admin.user, queue=made["low"], group=group)

    with pytest.raises(errors.Refusal, match="low has 1 session"):
        queues.remove_queue(admin, made["low"], reason=WHY)
    with pytest.raises(errors.Conflict):
        queues.remove_queue(admin, made["mid"], reason=WHY, expected_version=7)

    assert (models.Queue.objects.count(), _takes("high"), _audit()) == (3, ["low"], [])


def test_a_queue_that_is_gone_is_not_changed(admin, made):
    queues.remove_queue(admin, made["mid"], reason=WHY)

    with pytest.raises(errors.NotVisible, match="no queue mid any more"):
        queues.change_queue(admin, made["mid"], changes={"state": "stopped"}, reason=WHY)
