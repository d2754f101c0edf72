"""Which decision answers for a stop, and whether it can be undone (DESIGN 5.5)."""

from __future__ import annotations

import datetime

import pytest

from scheduler import models
from scheduler.selectors import stops
from scheduler.services import actors, control
from tests.scheduler.services import conftest

make_cluster = conftest.make_cluster


@pytest.fixture(params=["suspend", "reschedule"])
def passed(make_cluster, request):
    """A stop that passed from its decision to another, whose victim is told to stop."""
    cluster = make_cluster(preemption_state="on", preemption_mode=request.param)
    cluster.run(cluster.alice, cpu="4", job_priority=1)
    first, second = (cluster.submit(cluster.alice, cpu="2", job_priority=rank) for rank in (20, 9))
    cluster.round()
    control.cancel_session(actors.of_user(cluster.alice), first)
    own, heir = (models.Decision.objects.get(session=session) for session in (first, second))
    return cluster, request.param, own, heir


def test_the_heir_answers_for_a_stop_that_passed_to_it(passed):
    _, _, own, heir = passed

    assert list(stops.answered_for([own.pk])) == []
    assert [victim.decision for victim in stops.answered_for([heir.pk])] == [own]
    models.Handover.objects.all().delete()
    assert [victim.decision for victim in stops.answered_for([own.pk])] == [own]


def test_a_kill_that_began_is_the_heirs_and_a_suspend_is_none(passed):
    _, mode, own, heir = passed
    asked = [own.pk, heir.pk]
    over = own.at + datetime.timedelta(seconds=10)

    assert stops.kill_begun(asked, now=over - datetime.timedelta(microseconds=1)) == set()
    assert stops.kill_begun(asked, now=over) == ({heir.pk} if mode == "reschedule" else set())
    assert stops.irreversible(models.Victim.objects.all()).exists() == (mode == "reschedule")


def test_a_kill_that_is_proven_has_begun(passed):
    cluster, mode, own, heir = passed
    victim = models.Victim.objects.get().session
    if mode == "suspend":
        cluster.agent.suspends(victim)
    else:
        cluster.agent.ends(victim, None, signal=9, after_warning=True)

    found = stops.kill_begun([own.pk, heir.pk], now=own.at)

    assert found == ({heir.pk} if mode == "reschedule" else set())
