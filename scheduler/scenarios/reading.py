"""
Read a file of scenarios: cases with the format's defaults, each fault named with its case, key and line.

A file that is no list of cases, or that has an id twice, is refused whole. A case with a fault keeps the others from
nothing: it carries its fault, and counts as failed; one of an unknown kind carries that as what is beyond.
"""

from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Mapping
from typing import Any

from scheduler.core import entities, states
from scheduler.scenarios import entries, errors, fields, located, rules, standing

S = states.SessionState
_FREE = ("title", "source", "evidence", "numbers", "peer_wrong", "note", "given", "observed", "version")
#: A session may have so many copies, and a case so many sessions.
MOST_SESSIONS = 50_000
_KINDS = [str(kind) for kind in entries.Kind]


def read(path: pathlib.Path) -> list[entries.Case]:
    """
    Return the cases of a file, in its order.

    Raises:
        BadScenario: it is no YAML, no list of cases, an empty one, or two cases have one id.
    """
    return cases(located.read(path), name=str(path))


def cases(document: Any, *, name: str = "scenario") -> list[entries.Case]:
    """Return the cases of a document: a list of entries, a table with the list under ``cases``, or one entry alone."""
    if isinstance(document, located.Table) and "id" in document:
        alone, document = document, located.Items()
        document.append(alone)
        document.lines.append(alone.line)
    elif isinstance(document, located.Table) and set(document) <= {"cases", *_FREE}:
        document = document.get("cases")
    if not isinstance(document, located.Items):
        raise errors.BadScenario(f"{name}: it must be a list of cases, each with an id and a kind")
    if not document:
        raise errors.BadScenario(f"{name}: there is no case in it")
    found: dict[str, entries.Case] = {}
    for value, line in zip(document, document.lines, strict=True):
        case = _case(value, line, name)
        if case.id in found:
            raise errors.BadScenario(
                f"{name}, line {line}: case {case.id} is there twice, first in line {found[case.id].line}"
            )
        found[case.id] = case
    return list(found.values())


def _case(value: Any, line: int, name: str) -> entries.Case:
    beyond: list[str] = []
    blank = entries.Case(f"line {line}", entries.Kind.SELECT, line)
    try:
        top = fields.Fields(value, "the case", line=line, beyond=beyond)
        blank = dataclasses.replace(blank, id=top.text("id"), title=fields.shown(top.take("title", "")))
        kind = top.text("kind", str(entries.Kind.SELECT))
        if kind not in _KINDS:
            where = f"line {top.line_of('kind')}"
            return dataclasses.replace(
                blank, beyond=(f"{where}: kind {kind} is none of {', '.join(_KINDS)}",)
            )
        blank = dataclasses.replace(blank, kind=entries.Kind(kind))
        case = dataclasses.replace(blank, **_parts(top, blank.kind))
    except errors.BadScenario as error:
        return dataclasses.replace(blank, fault=f"{name}, {error}")
    except errors.NotExpressible as error:
        return dataclasses.replace(blank, beyond=(*dict.fromkeys(beyond), str(error)))
    return dataclasses.replace(case, beyond=tuple(dict.fromkeys(beyond)))


def _parts(top: fields.Fields, kind: entries.Kind) -> dict[str, Any]:
    for key in _FREE:
        top.take(key)
    expect, alternative = top.take("expect"), top.take("expect_alternative")
    for key, value in (("expect", expect), ("expect_alternative", alternative)):
        if value is not None and not isinstance(value, located.Table):
            raise top.fault(key, "must be a table")
    parts: dict[str, Any] = {"expect": expect, "alternative": alternative}
    if kind in entries.PICTURED or top.has("steps"):
        parts |= {
            "nodes": tuple(_node(each) for each in top.tables("nodes", "a node")),
            "queues": _queues(top),
            "config": rules.read(top.table("config", "config")),
            "running": _sessions(top, "running"),
            "pending": _sessions(top, "pending"),
            "steps": _steps(top),
            **standing.of_case(top),
        }
        top.close()
        _check_names(top, parts)
    return parts


def _node(found: fields.Fields) -> entries.NodeEntry:
    node_id = found.text("id")
    found.what = f"node {node_id}"
    labels = found.table("labels")
    node = entries.NodeEntry(
        node_id,
        found.amounts("cap"),
        {label: labels.label(label) for label in labels.names()},
        found.number("max_sessions", least=0),
        found.word("state", "ready", [str(state) for state in entities.NodeState]),
        found.indices("devices"),
    )
    found.close()
    return node


def _queues(top: fields.Fields) -> tuple[entries.QueueEntry, ...]:
    found = [_queue(each) for each in top.tables("queues", "a queue")]
    is_default_there = any(queue.id == entries.DEFAULT_QUEUE for queue in found)
    return (*([] if is_default_there else [entries.QueueEntry(entries.DEFAULT_QUEUE)]), *found)


def _queue(found: fields.Fields) -> entries.QueueEntry:
    """Return a queue; that it names itself says nothing, as in the cluster: no queue preempts from itself."""
    queue_id = found.text("id")
    found.what = f"queue {queue_id}"
    modes = ["", *(str(mode) for mode in entities.PreemptionMode)]
    mode = found.word("mode", "", modes) or found.word("preemption_mode", "", modes)
    queue = entries.QueueEntry(
        queue_id,
        found.flag("preemptible"),
        tuple(name for name in found.words("preemptible_queues") or () if name != queue_id),
        mode,
        found.text("preempt_policy", ""),
        found.word("state", "open", [str(state) for state in entities.QueueState]),
        found.amounts("max"),
        found.number("max_sessions", least=0),
        found.flag("serves", True),
    )
    found.close()
    return queue


def _sessions(top: fields.Fields, key: str) -> tuple[entries.SessionEntry, ...]:
    what = "a running session" if key == "running" else "a pending session"
    tables = top.tables(key, what)
    found = tuple(copy for each in tables for copy in session(each, is_running=key == "running"))
    if len(found) > MOST_SESSIONS:
        raise top.fault(key, f"has {len(found)} sessions; a case has at most {MOST_SESSIONS}")
    return found


def session(found: fields.Fields, *, is_running: bool) -> list[entries.SessionEntry]:
    """Return one session, or its copies: ``repeat`` k makes ids <id>1 to <id>k, each starting one second later."""
    session_id = found.text("id")
    found.what = f"session {session_id}"
    one = entries.SessionEntry(session_id, **_who(found), **_what(found), **_where(found, is_running))
    copies = found.number("repeat", least=1, most=MOST_SESSIONS)
    found.take("note")
    found.close()
    if copies is None:
        return [one]
    return [_copy(one, place) for place in range(copies)]


def _copy(one: entries.SessionEntry, place: int) -> entries.SessionEntry:
    started = (entries.STARTED_S_AGO if one.started_s_ago is None else one.started_s_ago) - place
    return dataclasses.replace(one, id=f"{one.id}{place + 1}", started_s_ago=started)


def _who(found: fields.Fields) -> dict[str, Any]:
    return {
        "owner": found.text("owner", "u1"),
        "queue": found.text("queue", entries.DEFAULT_QUEUE),
        "priority": found.count("priority", 10),
        "job_priority": found.count("job_priority", 10, least=-(2**31)),
        "preemptible": found.flag("preemptible", True),
        "submitted": found.number("submitted"),
    }


def _what(found: fields.Fields) -> dict[str, Any]:
    return {
        "type": found.word("type", "batch", [str(word) for word in entities.SessionType]),
        "is_private": found.flag("private"),
        "is_held": found.flag("held"),
        "times_preempted": found.count("times_preempted", 0),
        "grace_s": found.number("grace_s", least=0),
        "walltime_s": found.number("walltime_s", least=1),
        "run": found.count("run", 1, least=1),
        "standing": standing.of_session(found),
    }


def _where(found: fields.Fields, is_running: bool) -> dict[str, Any]:
    if not is_running:
        return {
            "request": found.amounts("request"),
            "node_count": found.count("node_count", 1, least=1),
            "requires_any": _labels(found),
        }
    held = found.table("alloc")
    alloc = {node: held.amounts(node) for node in held.names()}
    holding = {state.name: state for state in states.HOLDING}
    return {
        "alloc": alloc,
        "node_count": max(1, len(alloc)),
        "request": next(iter(alloc.values()), {}),
        "state": holding[found.word("state", "RUNNING", holding)],
        "started_s_ago": found.seconds("started_s_ago"),
        "requires_any": _labels(found),
    }


def _labels(found: fields.Fields) -> dict[str, tuple[str, ...]]:
    table = found.table("requires_any")
    return {label: tuple(table.words(label) or ()) for label in table.names()}


def _steps(top: fields.Fields) -> tuple[located.Table, ...]:
    value = top.take("steps", located.Items())
    if not isinstance(value, located.Items):
        raise top.fault("steps", "must be a list")
    for step, line in zip(value, value.lines, strict=True):
        if not isinstance(step, located.Table) or "do" not in step:
            raise errors.BadScenario(f"line {line}: each step must be a table with a key 'do'")
    return tuple(value)


def _check_names(top: fields.Fields, parts: Mapping[str, Any]) -> None:
    """Raise when two things have one name, or a name means nothing."""
    sessions = [*parts["running"], *parts["pending"]]
    for key, names in (
        ("nodes", [node.id for node in parts["nodes"]]),
        ("queues", [queue.id for queue in parts["queues"]]),
        ("pending", [one.id for one in sessions]),
    ):
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise top.fault(key, f"names {', '.join(twice)} twice")
    nodes = {node.id for node in parts["nodes"]}
    queues = {queue.id for queue in parts["queues"]}
    for one in sessions:
        check_session(one, nodes=nodes, queues=queues, fault=top.fault)
    named_sessions, named_nodes = standing.names_of(dict(parts))
    strangers = sorted(named_sessions - {one.id for one in sessions}) + sorted(named_nodes - nodes)
    if strangers:
        raise top.fault(
            "reservations", f"or edges, holds or backoff_s name {', '.join(strangers)}: not there"
        )
    if unknown := sorted(set(parts["config"].queue_limits) - queues):
        raise top.fault("config", f"limits queue {', '.join(unknown)}, which is not there")
    for queue in parts["queues"]:
        if unknown := sorted(set(queue.preemptible_queues) - queues):
            raise top.fault("queues", f"names {', '.join(unknown)} in queue {queue.id}, which is not there")


def check_session(one: entries.SessionEntry, *, nodes: set[str], queues: set[str], fault: Any) -> None:
    """Raise ``fault(key, text)`` when a session names a node or a queue that is not there, or needs nothing."""
    key = "running" if one.alloc else "pending"
    if unknown := sorted(set(one.alloc) - nodes):
        raise fault(key, f"puts {one.id} on node {', '.join(unknown)}, which is not there")
    if one.queue not in queues and queues == {entries.DEFAULT_QUEUE}:
        raise errors.NotExpressible(
            f"session {one.id} is in queue {one.queue}, and the case declares no queues"
        )
    if one.queue not in queues:
        raise fault(key, f"puts {one.id} into queue {one.queue}, which is not there")
    if one.priority > 100:
        raise fault(key, f"gives {one.id} priority {one.priority}; it is 0 to 100")
    if not one.request and not one.alloc:
        raise fault(key, f"gives {one.id} neither a request nor an alloc")
