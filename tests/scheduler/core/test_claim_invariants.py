"""Planted faults about claims are found."""

from __future__ import annotations

import pytest

from scheduler.core import decisions, entities, invariants
from tests import factories
from tests.factories import slots

R = decisions.PendReason


@pytest.mark.parametrize(
    ("claims", "text"),
    [
        ([entities.Claim(8, (1,)), entities.Claim(8, (1,))], "has two claims"),
        ([entities.Claim(1, (1,))], "does not wait"),
        ([entities.Claim(8, (1, 1))], "names a node twice"),
        ([entities.Claim(8, ())], "or none"),
    ],
)
def test_a_planted_fault_in_a_snapshot_is_found(claims, text):
    view = factories.a_snapshot([factories.a_running(1), factories.a_session(8)], claims=claims)

    assert any(text in finding for finding in invariants.check_snapshot(view))


def _round(*, wall_limit_s=None, until=None, reservation_id=None, resumes=False):
    waits = factories.a_suspended(8, slots(cpu=4)) if resumes else factories.a_session(8, slots(cpu=4))
    later = factories.a_session(9, slots(cpu=1), wall_limit_s=wall_limit_s)
    view = factories.a_snapshot([factories.a_running(1, slots(cpu=2)), waits, later])
    facts = {"kept": "n1"} | ({"until": until} if until else {})
    pend = decisions.Pend(8, R.HOLDS_CLAIM, facts, claim=entities.Claim(8, (1,)))
    start = decisions.Dispatch(9, (decisions.NodeGrant(1, slots(cpu=1), {}),), reservation_id=reservation_id)
    return view, [pend, start]


@pytest.mark.parametrize("resumes", [False, True])
def test_what_is_kept_and_taken_by_one_behind_is_found(resumes):
    (finding,) = invariants.check_decisions(*_round(resumes=resumes))

    assert finding == "cpu that is kept on node n1 for session 8 is taken"


def test_one_that_ends_before_the_claim_starts_may_take_it():
    until = factories.NOW + 60 * factories.SECOND

    assert invariants.check_decisions(*_round(wall_limit_s=60, until=until)) == []
    assert invariants.check_decisions(*_round(wall_limit_s=61, until=until)) != []


def test_one_that_had_it_reserved_may_take_it():
    assert invariants.check_decisions(*_round(reservation_id=7)) == []
