"""One unit of work: events numbered last, bells after commit, nothing of a rolled-back one."""

from __future__ import annotations

import contextlib

from django.db import transaction

from scheduler import models
from scheduler.services import actors, work


def _tell(*types):
    with work.begin(actors.SYSTEM) as unit:
        for each in types:
            unit.tell(each)


def test_events_get_the_next_numbers_in_the_order_told(db):
    _tell("a.one", "a.two")
    _tell("b.one")

    assert list(models.Event.objects.values_list("number", "type")) == [
        (1, "a.one"),
        (2, "a.two"),
        (3, "b.one"),
    ]


def test_rolled_back_work_leaves_no_number_behind(db):
    _tell("a.one")
    with contextlib.suppress(ZeroDivisionError), work.begin(actors.SYSTEM) as unit:
        unit.tell("a.two")
        raise ZeroDivisionError
    _tell("a.three")

    assert list(models.Event.objects.values_list("number", "type")) == [(1, "a.one"), (2, "a.three")]


def test_the_counter_is_locked_only_at_the_end(db, django_assert_num_queries):
    with work.begin(actors.SYSTEM) as unit:
        unit.tell("a.one")
        held = models.EventCounter.objects.select_for_update(skip_locked=True).get()

    assert held.last == 0
    assert models.EventCounter.objects.get().last == 1


def test_requests_for_rounds_of_one_unit_merge(make_cluster):
    cluster = make_cluster()
    before = models.GroupRounds.objects.get().asked

    with work.begin(actors.SYSTEM) as unit:
        unit.ask_round(cluster.group.pk)
        unit.ask_round(cluster.group.pk)

    assert models.GroupRounds.objects.get().asked == before + 1


def test_bells_ring_after_commit_with_what_was_written(db, monkeypatch, django_capture_on_commit_callbacks):
    rung = []
    monkeypatch.setattr(work.bells, "ring", lambda **what: rung.append(what))

    with django_capture_on_commit_callbacks(execute=True):
        _tell("a.one")
        assert rung == []

    assert rung == [{"last": 1, "group_ids": [], "command_ids": []}]


def test_work_inside_a_transaction_that_fails_rings_nothing(db, monkeypatch):
    rung = []
    monkeypatch.setattr(work.bells, "ring", lambda **what: rung.append(what))

    with contextlib.suppress(ZeroDivisionError), transaction.atomic():
        _tell("a.one")
        raise ZeroDivisionError

    assert rung == []
    assert not models.Event.objects.exists()
