"""Names that say nothing, and compare as what they stand for."""

from __future__ import annotations

import dataclasses

from scheduler.scenarios import neutral_names
from tests import factories


def named() -> neutral_names.Names:
    """Return the names of a snapshot in which everything has a name of its own."""
    own = {"secret.b": 2, "secret.a": 1}
    node = factories.a_node(1, name="secret-host", capacity=factories.slots(cpu=4, **own))
    queues = (
        factories.a_queue(1, preempt_policy="lowest_priority_first"),
        factories.a_queue(2, preempt_policy="secret-policy"),
    )
    view = factories.a_snapshot([factories.a_session(1)], nodes=[node], queues=queues)
    releases = frozenset({"cpu", "secret.c"})
    policy = dataclasses.replace(view.policy, suspend_releases=releases)
    return neutral_names.Names(dataclasses.replace(view, policy=policy))


def test_kinds_that_are_built_in_keep_their_names_and_others_their_order():
    names = named()

    assert [names.kind(kind) for kind in ("cpu", "secret.a", "secret.b", "secret.c")] == [
        "cpu",
        "kind1",
        "kind2",
        "kind3",
    ]


def test_policies_that_are_shipped_keep_their_names():
    names = named()

    assert names.policy("lowest_priority_first") == "lowest_priority_first"
    assert names.policy("secret-policy") == "policy1"


def test_a_word_is_always_replaced_by_the_same_one():
    names = named()

    assert [names.word(text) for text in ("zone", "east", "zone")] == ["word1", "word2", "word1"]


def test_names_of_many_compare_as_their_numbers():
    names = neutral_names._numbered("n", list(range(12)))

    assert (names[0], names[11]) == ("n01", "n12")
    assert sorted(names.values()) == list(names.values())
