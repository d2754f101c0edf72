"""Who is locked together, and what a lock leaves alone."""

from __future__ import annotations

import uuid

import pytest
from django.db import connection, transaction

from scheduler import errors, models
from scheduler.services import locks
from tests.scheduler.services import staging


def test_a_lonely_session_is_bound_to_nobody(make_cluster):
    cluster = make_cluster()
    session = cluster.submit(cluster.alice)

    assert locks.ground_of([session.pk])[0] == {session.pk}
    assert locks.ground_of([])[0] == set()


def test_holder_victims_and_those_who_wait_for_them_are_bound_together(make_cluster):
    cluster = make_cluster(**staging.RULES)
    lows = [cluster.run(cluster.alice, cpu="2", job_priority=1) for _ in range(2)]
    high = cluster.submit(cluster.alice, cpu="3", job_priority=20)
    cluster.round()
    waiter = cluster.submit(cluster.bob, cpu="1")
    cluster.round()
    everybody = {*[low.pk for low in lows], high.pk, waiter.pk}

    assert models.Reservation.objects.count() == 2
    for session_id in everybody:
        assert locks.ground_of([session_id])[0] == everybody


def test_a_victim_with_a_fate_is_free(make_cluster):
    cluster = make_cluster(**staging.RULES)
    low, high = cluster.contest()
    cluster.agent.suspends(low)

    assert locks.ground_of([high.pk])[0] == {high.pk}


def test_the_nodes_of_a_reservation_are_locked_too(make_cluster):
    cluster = make_cluster(**staging.RULES)
    _, high = cluster.contest()

    assert locks.ground_of([high.pk])[1] == {cluster.node.pk}


def test_an_unknown_session_is_not_visible(make_cluster):
    make_cluster()

    with pytest.raises(errors.NotVisible):
        locks.session(uuid.uuid4().int >> 80)


def test_a_group_is_taken_once_per_transaction(db):
    with transaction.atomic():
        assert locks.try_group(7)
        assert locks.try_group(7)


def test_locks_are_taken_without_the_strength_that_blocks_foreign_keys(make_cluster):
    cluster = make_cluster()
    session = cluster.run(cluster.alice)
    statements = []

    def note(execute, sql, *rest):
        statements.append(sql)
        return execute(sql, *rest)

    with connection.execute_wrapper(note):
        locks.session(session.pk)

    locking = [sql for sql in statements if "FOR " in sql and "UPDATE" in sql]
    assert locking
    assert all("FOR NO KEY UPDATE" in sql for sql in locking)
