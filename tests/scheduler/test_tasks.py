"""Celery shells: each calls its service, and may run twice without harm."""

from __future__ import annotations

import pytest
from celery import current_app

from scheduler import models, tasks
from tests import model_factories, worlds


@pytest.fixture
def world(db):
    return worlds.a_world()


def test_the_names_are_those_that_the_bells_and_agents_use():
    assert {"xce.round", "xce.due_rounds", "xce.report", "xce.reconcile"} <= set(current_app.tasks)


def test_due_rounds_look_at_every_group(world):
    tasks.run_due_rounds()
    tasks.run_due_rounds()

    assert set(models.GroupRounds.objects.values_list("last_number", flat=True)) == {2}


def test_a_round_of_a_group_that_is_gone_does_nothing(db):
    tasks.run_round(123_456)

    assert not models.Round.objects.exists()


def test_a_report_that_is_no_envelope_is_refused_in_silence(world):
    tasks.take_report("nonsense")

    assert models.Session.objects.count() == 3


def test_the_reconciler_may_run_at_any_time(world):
    model_factories.a_node("idle", group=world.elsewhere)

    tasks.reconcile()
    tasks.reconcile()

    assert set(models.Node.objects.values_list("state", flat=True)) == {"ready"}
