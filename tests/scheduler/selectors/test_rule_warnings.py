"""What is allowed but dangerous about rules."""

from __future__ import annotations

import pytest

from scheduler.selectors import rule_warnings
from tests import model_factories

Code = rule_warnings.Code


@pytest.fixture
def codes(db):
    """Return a function: rules, and whom each of two queues takes from -> codes of the warnings."""

    def ask(*, one=(), two=(), modes=("", ""), **rules):
        group = model_factories.a_group(**{"preemption_mode": "reschedule", **rules})
        queues = [
            model_factories.a_queue(groups=[group], preemptible=True, preemption_mode=mode) for mode in modes
        ]
        for queue, takes in zip(queues, (one, two), strict=True):
            queue.preemptible_queues.set([queues[place] for place in takes])
        return [caution.code for caution in rule_warnings.of(group, group.policy)]

    return ask


@pytest.mark.parametrize(
    ("rules", "found"),
    [
        ({}, []),
        ({"preemption_mode": "terminate"}, [Code.ENDS_FOR_GOOD]),
        ({"preemption_mode": "suspend"}, [Code.KEEPS_MEMORY]),
        ({"preemption_mode": "suspend", "suspend_releases": ["cpu"]}, []),
        ({"preemption_mode": "suspend", "suspend_releases": ["cpu", "mem"]}, [Code.KEEPS_MEMORY]),
        ({"modes": ("", "suspend")}, [Code.KEEPS_MEMORY]),
        ({"one": [1]}, [Code.NO_MINIMUM_RUNTIME]),
        ({"one": [1], "preemption_min_runtime": 60}, []),
        ({"one": [1], "preemption_scope": "owner"}, []),
        ({"one": [1], "two": [0], "preemption_min_runtime": 60}, [Code.MUTUAL_QUEUES]),
        ({"one": [1], "two": [0], "preemption_scope": "owner"}, []),
    ],
)
def test_each_danger_is_warned_of_where_it_is_one(codes, rules, found):
    assert codes(**rules) == found


def test_a_warning_names_kinds_and_queues(db):
    group = model_factories.a_group(preemption_mode="suspend", suspend_releases=["cuda.device"])
    first = model_factories.a_queue("first", groups=[group], preemptible=True)
    second = model_factories.a_queue("second", groups=[group], preemptible=True, preempts=[first])
    first.preemptible_queues.set([second])

    texts = [caution.text for caution in rule_warnings.of(group, group.policy)]

    assert "keeps its device memory**, but these rules give it to others. Leave cuda.device out" in texts[0]
    assert texts[-1].startswith("Queues **first and second** may stop each other's sessions")


def test_a_cycle_over_other_queues_is_named_step_by_step():
    caution = rule_warnings.of_cycle(("a", "b", "c"))

    assert caution.code == Code.QUEUE_CYCLE
    assert (
        "**a, b and c** may stop each other's sessions in a cycle: a stops b, b stops c, c stops a."
        in caution.text
    )
