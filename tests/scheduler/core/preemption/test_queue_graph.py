"""Cycles among queues, and their order."""

from __future__ import annotations

import graphlib
import itertools

import hypothesis
import pytest
from hypothesis import strategies

from scheduler.core.preemption import queue_graph

NAMES = "abcdef"
GRAPHS = strategies.sets(
    strategies.sampled_from([pair for pair in itertools.product(NAMES, NAMES) if pair[0] != pair[1]]),
    max_size=14,
)


def _takes(pairs):
    return {name: sorted(giver for taker, giver in pairs if taker == name) for name in NAMES}


@pytest.mark.parametrize(
    ("takes", "found"),
    [
        ({}, []),
        ({"a": ["b", "c"], "b": ["c"]}, []),
        ({"b": ["a"], "a": ["b"]}, [("a", "b")]),
        ({"c": ["a"], "a": ["b"], "b": ["c"]}, [("a", "b", "c")]),
        ({"a": ["b"], "b": ["a", "c"], "c": ["a"]}, [("a", "b"), ("a", "b", "c")]),
        ({"a": ["b"], "b": ["c", "a"], "d": ["c"], "c": ["d"], "e": ["a"]}, [("a", "b"), ("c", "d")]),
    ],
)
def test_each_cycle_is_named_once_from_its_first_queue(takes, found):
    assert queue_graph.cycles(takes) == found


@hypothesis.given(GRAPHS)
def test_there_is_a_cycle_exactly_when_no_order_exists(pairs):
    takes = _takes(pairs)
    try:
        graphlib.TopologicalSorter(takes).prepare()
        has_order = True
    except graphlib.CycleError:
        has_order = False

    found = queue_graph.cycles(takes)

    assert (found == []) == has_order
    assert queue_graph.on_cycle(found) <= pairs
    assert all(len(set(cycle)) == len(cycle) for cycle in found)


@hypothesis.given(GRAPHS)
def test_a_step_leads_up_only_where_it_lies_on_a_cycle(pairs):
    takes = _takes(pairs)
    ranked = queue_graph.ranking(takes)

    assert sorted(ranked) == sorted(NAMES)
    upwards = {(taker, giver) for taker, giver in pairs if ranked.index(giver) < ranked.index(taker)}
    assert upwards <= queue_graph.on_cycle(queue_graph.cycles(takes))


def test_queues_without_an_order_between_them_come_by_name():
    assert queue_graph.ranking({"urgent": ["normal", "batch"], "normal": [], "batch": []}) == [
        "urgent",
        "batch",
        "normal",
    ]
