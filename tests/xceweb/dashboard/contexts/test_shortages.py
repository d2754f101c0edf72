"""The table of what was short on the node of a decision."""

from __future__ import annotations

from scheduler.selectors import slot_kinds
from xceweb.dashboard.contexts import shortages

CPU = slot_kinds.Kind("cpu", 1000, unit="cores")
KINDS = {"cpu": CPU}
VICTIMS = [
    {"session_id": 1, "frees": {"cpu": 2000}, "action": "suspend"},
    {"session_id": 2, "frees": {"cpu": 500}, "action": "requeue-suspended"},
]
RECORD = {"slots": {"cpu": 3000}, "victims": VICTIMS, "nodes": [{"node_id": 7}]}
VIEW = {"free": {"cpu": 400}, "releasing": {"cpu": 100}, "short": {"cpu": 2500}, "sessions_short": 0}


def test_each_kind_that_was_asked_for_adds_up():
    (row,) = shortages.rows(RECORD, VIEW, {**KINDS, "mem": slot_kinds.Kind("mem", 1)})

    assert row == {
        "kind": CPU,
        "asked": 3000,
        "free": 400,
        "releasing": 100,
        "short": 2500,
        "held": 2500,
        "after": 3000,
    }
    assert [shortages.rows(RECORD, VIEW, KINDS, of=i)[0]["held"] for i in (1, 2, 3)] == [2000, 500, 0]


def test_session_places_are_a_row_where_they_were_short():
    view = VIEW | {"sessions_short": 1}

    def held(of=None):
        return shortages.rows(RECORD, view, KINDS, of=of)[-1]["held"]

    row = shortages.rows(RECORD, view, KINDS)[-1]
    assert (str(row["kind"]), row["asked"], row["short"], row["free"]) == ("session places", 1, 1, None)
    assert (held(), held(1), held(2)) == (1, 1, 0)


def test_a_node_is_found_in_a_record():
    assert shortages.on_node(RECORD, 7) == {"node_id": 7}
    assert shortages.on_node(RECORD, 8) is None
