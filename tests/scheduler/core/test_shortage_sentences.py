"""What a waiting session lacks, in a sentence whose numbers add up; `test_explain.py` has one for each headline."""

from __future__ import annotations

from scheduler.core import decisions, shortage_sentences, units

R, GIB = decisions.PendReason, 1 << 30


def _say(reason, **facts):
    return shortage_sentences.WRITERS[reason](
        {name.replace("__", "."): value for name, value in facts.items()}, units.BUILT_IN
    )


def test_a_node_with_all_but_a_session_place_is_said_to_be_that():
    found = _say(
        R.NO_RESOURCES, asked__cpu=1000, free__cpu=4000, most__cpu=4000, nearest="n1", short__sessions=1
    )

    assert found == "It needs 1 core on one node. n1 has that free, but no place for one more session."


def test_labels_are_named_where_only_some_nodes_were_counted():
    facts = {"asked__mem": 8 * GIB, "most__mem": 4 * GIB, "nodes": 1, "nodes__large": 0}

    assert "the largest node has 4 GiB" in _say(R.NEVER_FITS, **facts)
    assert "the largest node with the labels that it requires has 4 GiB" in _say(
        R.NEVER_FITS, **facts, labels=1
    )
