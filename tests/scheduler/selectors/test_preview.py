"""Who would be stopped under other rules: the same core, and nothing left behind."""

from __future__ import annotations

import pytest

from scheduler import errors, models
from scheduler.selectors import preview
from tests import model_factories


@pytest.fixture
def contested(world):
    """The world with preemption off, a low session that fills the node, and a high one that waits."""
    group = model_factories.a_group("tight")
    node = model_factories.a_node("tight-1", group=group, capacity={"cpu": 4000})
    queue = model_factories.a_queue("tight", groups=[group])
    owner = world.people["owner"]
    model_factories.a_role(world.people["operator"], group, "operator")
    slots = {"cpu": 4000}
    low = model_factories.a_session(
        owner=owner, queue=queue, state="running", node=node, slots=slots, job_priority=1
    )
    high = model_factories.a_session(owner=owner, queue=queue, slots=slots, job_priority=20)
    return group, low, high


def _preview(world, group, **changes):
    return preview.preview_policy(world.people["operator"], group, changes)


def test_victims_and_starts_are_named_with_their_values(world, contested):
    group, low, high = contested

    found = _preview(world, group)

    (victim,) = found.victims
    assert (victim.session, victim.preemptor, victim.axis) == (low, high, "owner")
    assert (victim.own_value, victim.preemptor_value, victim.node) == (1, 20, "tight-1")
    assert victim.ran_s >= 59
    assert [start.session for start in found.starts] == [high]


def test_what_a_stop_throws_away_is_counted_in_slot_seconds(world, contested):
    group, *_ = contested

    ends, stays = _preview(world, group), _preview(world, group, preemption_mode="suspend")

    (victim,) = ends.victims
    assert ends.lost == victim.lost == {"cpu": 4000 * victim.ran_s}
    assert victim.stays_away == "it ends and is not requeued"
    assert (stays.lost, stays.victims[0].stays_away) == ({}, "")


@pytest.mark.parametrize(
    ("session", "queue", "told"),
    [
        ({}, {}, ""),
        ({"type": "interactive"}, {}, "it is interactive: it starts anew, without its state"),
        ({}, {"state": "stopped"}, "queue tight is stopped: it waits there until it is opened"),
    ],
)
def test_who_does_not_come_back_as_it_was_is_told_why(world, contested, session, queue, told):
    group, low, high = contested
    models.Session.objects.filter(pk=high.pk).update(queue=world.queues["normal"])
    world.queues["normal"].groups.add(group)
    models.Session.objects.filter(pk=low.pk).update(**session)
    models.Queue.objects.filter(pk=low.queue_id).update(**queue)

    assert [one.stays_away for one in _preview(world, group, preemption_mode="reschedule").victims] == [told]


@pytest.mark.parametrize(("limit", "saved"), [(None, None), (3600, 3600 - 60 - 10)])
def test_the_waiting_saved_is_what_the_time_limits_of_others_would_cost(world, contested, limit, saved):
    group, low, _ = contested
    models.Session.objects.filter(pk=low.pk).update(wall_limit=limit)

    found = _preview(world, group)

    (start,) = found.starts
    assert (start.grace_s, found.unknown) == (10, int(saved is None))
    assert start.saved_s is None if saved is None else abs(start.saved_s - saved) <= 2
    assert found.saved_s == (start.saved_s or 0)


def test_the_changes_are_tried_as_if_switched_on(world, contested):
    group, *_ = contested

    found = _preview(world, group, preemption_min_runtime=10**6)

    assert found.victims == []
    assert found.protected == {"min-runtime": 1}


def test_private_sessions_are_not_counted_among_the_protected(world, contested):
    group, low, _ = contested
    models.Session.objects.filter(pk=low.pk).update(is_private=True)

    assert _preview(world, group, preemption_min_runtime=10**6).protected == {}


def test_nothing_is_left_behind(world, contested):
    group, low, _ = contested
    before = (models.Round.objects.count(), models.Event.objects.count(), models.Decision.objects.count())

    _preview(world, group)

    after = (models.Round.objects.count(), models.Event.objects.count(), models.Decision.objects.count())
    assert after == before
    assert models.Session.objects.get(pk=low.pk).state == "running"


def test_who_may_not_preview_is_refused(world, contested):
    with pytest.raises(errors.NotAllowed):
        preview.preview_policy(world.people["viewer"], contested[0], {})


@pytest.mark.parametrize("changes", [{"grace_period": 10**9}, {"preemption_mode": "freeze"}, {"colour": 1}])
def test_a_rule_that_cannot_be_is_refused(world, contested, changes):
    with pytest.raises(errors.Refusal):
        _preview(world, contested[0], **changes)
