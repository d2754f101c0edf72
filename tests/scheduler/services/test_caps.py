"""Caps of priorities that are lowered while sessions wait, and while others submit (P09)."""

from __future__ import annotations

import os
import threading

import pytest
from django.db import connection

from scheduler import errors, models
from scheduler.services import actors, control, people, queues, submission
from tests import model_factories
from tests.scheduler.services import crowd

IS_NIGHT = bool(os.environ.get("XCE_NIGHT"))
LOWERINGS, CLIENTS = (500, 8) if IS_NIGHT else (12, 8)
SYSTEM = actors.SYSTEM
WHY = "less for a while"
VALUES = (-1, 0, 50, 51, 100, 101, 2**31, "9", 9.5, True, None)


def _submit(cluster, priority, **fields):
    wanted = {
        "name": "s",
        "group": cluster.group.slug,
        "queue": "normal",
        "argv": ["true"],
        "slots": {"cpu": "1"},
    }
    request = submission.SubmitRequest(**{**wanted, **fields}, priority=priority)
    return submission.submit_session(actors.of_user(cluster.alice), request)


@pytest.fixture
def cluster(make_cluster):
    """A cluster whose alice may ask for 80."""
    made = make_cluster()
    policy = model_factories.a_resource_policy("capped", max_priority=80)
    models.User.objects.filter(pk=made.alice.pk).update(policy=policy)
    made.alice.refresh_from_db()
    return made


def _lower(cluster, limit):
    people.change_resource_policy(SYSTEM, cluster.alice.policy, changes={"max_priority": limit}, reason=WHY)


def _lower_queue(cluster, limit):
    queues.change_queue(SYSTEM, cluster.queues["normal"], changes={"max_priority": limit}, reason=WHY)


@pytest.mark.parametrize("lower", [_lower, _lower_queue])
def test_p09_what_waits_goes_down_with_its_cap_and_an_event_says_so(cluster, lower):
    high, low = _submit(cluster, 70), _submit(cluster, 10)

    lower(cluster, 20)

    rows = [models.Session.objects.get(pk=one.pk) for one in (high, low)]
    told = models.Event.objects.filter(type="session.changed")
    assert [(row.priority, row.priority_cap) for row in rows] == [(20, 20), (10, 20)]
    assert [(one.session_id, one.data["reason"]) for one in told] == [(high.pk, "cap lowered")]
    assert told[0].data["before"]["priority"] == 70


def test_p09_a_raised_cap_raises_nothing(cluster):
    row = _submit(cluster, 70)

    _lower(cluster, 20)
    _lower(cluster, 100)

    row.refresh_from_db()
    assert (row.priority, row.priority_cap) == (20, 20)


def test_p09_what_runs_and_what_others_submitted_stays(cluster):
    running = _submit(cluster, 70)
    cluster.round()
    cluster.agent.starts(running)
    other = model_factories.a_session(owner=cluster.bob, queue=cluster.queues["normal"], priority=70)

    _lower(cluster, 20)

    assert [models.Session.objects.get(pk=one.pk).priority for one in (running, other)] == [70, 70]


def test_p09_a_policy_that_the_request_found_is_not_believed(cluster):
    row, alice = _submit(cluster, 70), cluster.alice
    _lower(cluster, 20)

    with pytest.raises(errors.Refusal, match="21 is above 20"):
        _submit(cluster, 21)
    with pytest.raises(errors.Refusal, match="30 is above 20"):
        control.change_session(actors.of_user(alice), row, priority=30)


@pytest.mark.parametrize("value", VALUES, ids=repr)
@pytest.mark.parametrize("name", ["max_priority", "default_priority"])
def test_p09_no_value_becomes_another_cap(cluster, name, value):
    policy, queue = cluster.alice.policy, cluster.queues["normal"]
    is_one = type(value) is int and 0 <= value <= 100

    def tried(change):
        try:
            change()
        except errors.Refusal as refusal:
            return list(refusal.fields)
        return []

    as_policy = tried(
        lambda: people.change_resource_policy(SYSTEM, policy, changes={name: value}, reason=WHY)
    )
    as_queue = tried(lambda: queues.change_queue(SYSTEM, queue, changes={name: value}, reason=WHY))

    policy.refresh_from_db()
    queue.refresh_from_db()
    assert (as_policy == [], as_queue == []) == (
        is_one,
        is_one or (value is None and name == "default_priority"),
    )
    assert (getattr(policy, name) == value) == is_one
    assert type(getattr(queue, name)) in (int, type(None))


@pytest.mark.django_db(transaction=True)
@pytest.mark.timeout(1200 if IS_NIGHT else 120)
def test_p09_no_session_is_above_a_cap_that_is_lowered_while_eight_submit(cluster, record_property):
    is_over, counts = threading.Event(), []

    def submits():
        made = 0
        while not is_over.is_set():
            try:
                _submit(cluster, 80)
                made += 1
            except errors.Refusal:
                pass
            is_over.wait(0.02)
        return made

    def lowers():
        try:
            for _ in range(LOWERINGS):
                _lower(cluster, 80)
                crowd.wait_for(
                    lambda: models.Session.objects.filter(priority=80).exists(), "somebody submits"
                )
                _lower(cluster, 20)
                counts.append(models.Session.objects.filter(priority__gt=20).count())
        finally:
            is_over.set()

    made = crowd.together(lowers, *([submits] * CLIENTS))[1:]

    record_property("tries", LOWERINGS)
    record_property("findings", sum(map(bool, counts)))
    assert (counts, sum(made) >= LOWERINGS) == ([0] * LOWERINGS, True)


@pytest.mark.django_db(transaction=True)
def test_who_submits_while_a_queue_is_removed_finds_no_such_queue(cluster, monkeypatch):
    """Before, the session was written, and the commit failed for want of its queue."""
    removing, record = threading.Event(), queues.audit.record_change

    def once_somebody_waits(*args, **fields):
        removing.set()
        crowd.wait_for(_is_somebody_waiting, "the submission waits")
        return record(*args, **fields)

    def submit():
        assert removing.wait(crowd.DEADLINE_S)
        with pytest.raises(errors.Refusal, match="there is no queue"):
            _submit(cluster, 10, queue="spare")

    spare = model_factories.a_queue("spare", groups=[cluster.group])
    monkeypatch.setattr(queues.audit, "record_change", once_somebody_waits)
    crowd.together(lambda: queues.remove_queue(SYSTEM, spare, reason=WHY), submit)

    assert not models.Queue.objects.filter(slug="spare").exists()
    assert not models.Session.objects.exists()


def _is_somebody_waiting():
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
        return cursor.fetchone()[0] > 0
