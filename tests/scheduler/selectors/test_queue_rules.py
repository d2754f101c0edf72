"""Who may preempt whom, as far as somebody sees it, and what takes effect of it."""

from __future__ import annotations

import pytest

from scheduler.selectors import queue_rules, queues
from tests import model_factories


@pytest.fixture
def site(db):
    """Queues of two groups: hidden belongs to the second alone, and high names it on its list."""
    one, two = model_factories.a_group("one"), model_factories.a_group("two")
    hidden = model_factories.a_queue("hidden", groups=[two], preemptible=True)
    low = model_factories.a_queue("low", groups=[one, two], preemptible=True)
    closed = model_factories.a_queue("closed", groups=[one])
    high = model_factories.a_queue("high", groups=[one], preempts=[low, closed, hidden])
    return {"one": one, "two": two, "low": low, "high": high}


def _of(user):
    return {rule.name: rule for rule in queue_rules.of(user)}


def test_only_what_can_be_preempted_and_shares_a_group_takes_effect(site):
    rules = _of(model_factories.an_administrator())

    assert sorted(rules["high"].takes) == ["closed", "hidden", "low"]
    assert queue_rules.in_effect(rules.values()) == {"closed": [], "hidden": [], "high": ["low"], "low": []}
    assert queue_rules.cycles(rules.values()) == []


def test_a_queue_that_somebody_does_not_see_is_on_no_list(site):
    viewer = model_factories.a_user(role="viewer", group=site["one"])

    assert sorted(_of(viewer)["high"].takes) == ["closed", "low"]
    assert _of(viewer)["low"].groups == {site["one"].pk}
    (row,) = [row for row in queues.rows(viewer) if row.name == "high"]
    (same,) = [row for row in queues.rows(viewer, group=site["one"]) if row.name == "high"]
    assert row.may_preempt == same.may_preempt == ["closed", "low"]


def test_a_cycle_needs_effect_on_each_step(site):
    site["low"].preemptible_queues.set([site["high"]])
    administrator = model_factories.an_administrator()
    assert queue_rules.cycles(queue_rules.of(administrator)) == []

    site["high"].preemptible = True
    site["high"].save()

    assert queue_rules.cycles(queue_rules.of(administrator)) == [("high", "low")]
