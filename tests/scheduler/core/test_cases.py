"""Planning decisions on frozen pictures, as data: what other systems got wrong must come out right here."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest

from scheduler.core import decisions, entities, resources, snapshot, states
from tests import factories

CASES = json.loads((pathlib.Path(__file__).parents[2] / "data" / "cases" / "select.json").read_text())
PLAYED = [case for case in CASES if "skipped" not in case]


@pytest.mark.parametrize("case", PLAYED, ids=[case["id"] for case in PLAYED])
def test_a_picture_is_decided_as_expected(case):
    picture = _Picture(case)

    answers = picture.decide()

    for name, expected in case["expect"].items():
        answer = answers[name] | {"count": len(answers[name]["victims"])}
        assert expected == {key: answer[key] for key in expected}


def test_every_skipped_picture_says_why():
    skipped = {case["id"]: case["skipped"] for case in CASES if "skipped" in case}

    assert set(skipped) == {"S08", "S14", "S26", "S36"}
    assert all(skipped.values())


class _Picture:
    """One case as a snapshot, with the names of its sessions and nodes."""

    def __init__(self, case: dict[str, Any]) -> None:
        self.case = case
        self.node_ids = {node["id"]: place for place, node in enumerate(case["nodes"], 1)}
        queues = ["q1", *(queue["id"] for queue in case.get("queues", ()) if queue["id"] != "q1")]
        self.queue_ids = {name: place for place, name in enumerate(queues, 1)}
        self.names: list[str] = []

    def decide(self) -> dict[str, dict[str, Any]]:
        """Return, per pending session, outcome, victims, target and reason by name."""
        found = factories.decide(self.snapshot())
        stops = factories.preemptions(found)
        return {
            self.names[session_id - 1]: self._answer(answer, stops.get(session_id))
            for session_id, answer in factories.by_session(found).items()
        }

    def _answer(
        self, answer: decisions.Dispatch | decisions.Pend, stop: decisions.Preempt | None
    ) -> dict[str, Any]:
        node_name = {place: name for name, place in self.node_ids.items()}
        if isinstance(answer, decisions.Dispatch):
            target = node_name[answer.grants[0].node_id]
            return {"outcome": "place", "victims": [], "target": target, "reason": ""}
        if stop is not None:
            victims = sorted(self.names[victim - 1] for victim in stop.victim_jobids)
            target = node_name[stop.node_id]
            return {"outcome": "preempt", "victims": victims, "target": target, "reason": str(answer.reason)}
        outcome = "pend" if answer.wait is None else "wait"
        return {"outcome": outcome, "victims": [], "target": "", "reason": str(answer.reason)}

    def snapshot(self) -> snapshot.Snapshot:
        running = [one for entry in self.case["running"] for one in self._running(entry)]
        pending = [self._pending(entry) for entry in self.case["pending"]]
        queues = {queue["id"]: queue for queue in self.case.get("queues", ())}
        return factories.a_snapshot(
            running + pending,
            nodes=[self._node(node) for node in self.case["nodes"]],
            policy=self._rules(),
            queues=tuple(self._queue(name, queues.get(name, {})) for name in self.queue_ids),
        )

    def _rules(self) -> entities.Policy:
        rules = dict(self.case["rules"])
        kinds = rules.pop("suspend_releases", None)
        words = {
            "scope": entities.PreemptionScope,
            "order": entities.PreemptionOrder,
            "mode": entities.PreemptionMode,
        }
        typed = {key: words[key](value) if key in words else value for key, value in rules.items()}
        state = entities.PreemptionState.ON
        releases = None if kinds is None else frozenset(kinds)
        return entities.Policy(version=1, state=state, suspend_releases=releases, **typed)

    def _node(self, entry: dict[str, Any]) -> entities.Node:
        more = {key: entry[key] for key in ("labels", "max_sessions") if key in entry}
        capacity = resources.ResourceVector(entry["capacity"])
        return factories.a_node(self.node_ids[entry["id"]], name=entry["id"], capacity=capacity, **more)

    def _queue(self, name: str, entry: dict[str, Any]) -> entities.Queue:
        listed = frozenset(self.queue_ids[other] for other in entry.get("preemptible_queues", ()))
        is_preemptible = entry.get("preemptible", False)
        return factories.a_queue(
            self.queue_ids[name], name=name, preemptible=is_preemptible, preemptible_queues=listed
        )

    def _id(self, name: str) -> int:
        self.names.append(name)
        return len(self.names)

    def _fields(self, entry: dict[str, Any]) -> dict[str, Any]:
        return {
            "owner_id": int(entry.get("owner", "u1")[1:]),
            "queue_id": self.queue_ids[entry.get("queue", "q1")],
            "priority": entry.get("priority", 10),
            "job_priority": entry.get("job_priority", 10),
            "is_preemptible": entry.get("preemptible", True),
        }

    def _running(self, entry: dict[str, Any]) -> list[entities.Session]:
        copies = entry.get("copies", 0)
        names = [f"{entry['id']}{copy}" for copy in range(1, copies + 1)] or [entry["id"]]
        started = factories.NOW - entry.get("started_s_ago", 3600) * factories.SECOND
        held = tuple(
            entities.Allocation(self.node_ids[node], resources.ResourceVector(amounts))
            for node, amounts in entry["holds"].items()
        )
        state = states.SessionState(entry.get("state", "running"))
        more = {"state": state, "allocations": held, "node_count": len(held)} | self._fields(entry)
        if state is states.SessionState.PREEMPTED:
            more |= {"in_decision": True, "stop_deadline": factories.NOW + factories.SECOND}
        return [
            factories.a_session(
                self._id(name), held[0].slots, started_at=started + place * factories.SECOND, **more
            )
            for place, name in enumerate(names)
        ]

    def _pending(self, entry: dict[str, Any]) -> entities.Session:
        labels = {label: frozenset(values) for label, values in entry.get("requires_any", {}).items()}
        request = resources.ResourceVector(entry["request"])
        return factories.a_session(self._id(entry["id"]), request, labels=labels, **self._fields(entry))
