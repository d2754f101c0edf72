"""Celery shells: each calls its service, and may run twice without harm."""

from __future__ import annotations

import itertools

import pytest
from celery import current_app

from scheduler import models, tasks
from scheduler.services import rounds
from tests import model_factories, worlds


@pytest.fixture
def world(db):
    made = worlds.a_world()
    models.GroupRounds.objects.update(last_number=1000)  # its stored round has a number below
    return made


def test_the_names_are_those_that_the_bells_and_agents_use():
    assert {"xce.round", "xce.due_rounds", "xce.report", "xce.reconcile"} <= set(current_app.tasks)


def test_p15_due_rounds_look_at_every_group_once_for_each_moment(world, monkeypatch):
    moments = iter([7, 7, 7, 7, 8, 8, 6, 6])
    monkeypatch.setattr(rounds, "_moment", lambda now: next(moments))
    for _ in range(4):
        tasks.run_due_rounds()

    assert set(models.GroupRounds.objects.values_list("last_number", "last_due")) == {(1002, 8)}


def test_a_round_that_was_asked_for_does_not_wait_for_its_moment(world, monkeypatch):
    monkeypatch.setattr(rounds, "_moment", lambda now: 7)
    tasks.run_due_rounds()
    models.GroupRounds.objects.update(asked=5)

    tasks.run_round(world.elsewhere.pk)

    assert models.GroupRounds.objects.get(group=world.elsewhere).last_number == 1002


def test_a_round_of_a_group_that_is_gone_does_nothing(db):
    tasks.run_round(123_456)

    assert not models.Round.objects.exists()


def test_a_report_that_is_no_envelope_is_refused_in_silence(world):
    tasks.take_report("nonsense")

    assert models.Session.objects.count() == 3


def test_a_report_out_of_the_queue_takes_those_along_that_wait_behind_it(monkeypatch):
    taken = []
    monkeypatch.setattr(tasks.reports, "receive_many", taken.append)
    monkeypatch.setattr(tasks.report_queue, "waiting", lambda app: ["second"])
    tasks.take_report.push_request(called_directly=False)
    try:
        tasks.take_report.run("first")
    finally:
        tasks.take_report.pop_request()
    tasks.take_report("alone")

    assert taken == [["first", "second"], ["alone"]]


def test_P14_of_a_burst_of_ticks_one_looks_at_the_deadlines(monkeypatch):
    looks, time_s = [], itertools.count(100)
    monkeypatch.setattr(tasks, "reconciling", tasks.Pace(5, clock_s=lambda: next(time_s)))
    monkeypatch.setattr(tasks.reconciler, "run", lambda: looks.append(next(time_s)))

    for _ in range(4):
        tasks.reconcile()

    assert len(looks) == 1

    for _ in range(2):
        tasks.reconcile()

    assert len(looks) == 2


@pytest.mark.parametrize("name", ["due-rounds", "reconcile"])
def test_a_tick_outlasts_a_busy_worker_and_a_wrong_clock(name):
    entry = current_app.conf.beat_schedule[name]

    assert entry["options"]["expires"] > 90


def test_the_reconciler_may_run_at_any_time(world, monkeypatch):
    monkeypatch.setattr(tasks, "reconciling", tasks.Pace(0))
    model_factories.a_node("idle", group=world.elsewhere)

    tasks.reconcile()
    tasks.reconcile()

    assert set(models.Node.objects.values_list("state", flat=True)) == {"ready"}
