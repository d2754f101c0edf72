"""The frozen values."""

from __future__ import annotations

from scheduler.core import entities
from tests import factories
from tests.factories import slots

_MODE = entities.PreemptionMode


def test_an_end_frees_all_and_a_suspend_frees_the_released_kinds():
    held = slots(cpu=2, mem=3)
    partly = entities.Policy(version=1, suspend_releases=frozenset({"cpu"}))

    assert held == partly.releases(_MODE.TERMINATE, held)
    assert slots(cpu=2) == partly.releases(_MODE.SUSPEND, held)
    assert held == entities.Policy(version=1).releases(_MODE.SUSPEND, held)


def test_infrastructure_is_a_type_of_its_own():
    assert factories.a_session(1, type=entities.SessionType.SYSTEM).is_system
    assert not factories.a_session(1).is_system
