"""What a round would do under other rules."""

from __future__ import annotations

import dataclasses

from hypothesis import given, settings

from scheduler.core import entities, preview
from tests import factories, strategies
from tests.factories import slots

OFF = dataclasses.replace(factories.ON, state=entities.PreemptionState.OFF)


def test_a_preview_shows_what_switching_on_would_do_now():
    running = factories.a_running(1, slots(cpu=4), job_priority=1)
    view = factories.a_snapshot([running, factories.a_session(9)], policy=OFF)

    stops = factories.preemptions(preview.would_preempt(view, OFF))

    assert stops[9].victim_jobids == (1,)
    assert not stops[9].is_shadow


@settings(max_examples=50, deadline=None)
@given(strategies.snapshots())
def test_a_preview_of_the_rules_in_force_is_the_next_round(view):
    assert preview.would_preempt(view, view.policy) == factories.decide(view)


def test_collecting_is_the_same_call():
    view = factories.a_snapshot([factories.a_session(1)])

    assert preview.collect(view) == factories.decide(view)
