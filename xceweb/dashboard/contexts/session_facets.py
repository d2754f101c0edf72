"""The facets of the list of sessions: links that narrow it further, each with how many sessions it leads to."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from scheduler.core import explain, states
from scheduler.selectors import session_facets, sessions
from xceweb.common import marks

#: Values that one menu shows; of more, those with the most sessions.
MOST = 12
_OVER = states.SessionState.TERMINATED.value
#: Field of the address -> word of the query language, where it is another.
_WORDS = {"owner": "user", "state": "result"}
Address = Callable[[sessions.Filters], str]


def load(filters: sessions.Filters, counts: session_facets.Counts, address: Address) -> dict[str, Any]:
    """Return ``states``, a row of links, and ``menus``, one for each other facet that has values."""
    return {
        "states": _states(filters, counts, address),
        "menus": [menu for menu in _menus(filters, counts, address) if menu["links"] or menu["value"]],
    }


def _states(
    filters: sessions.Filters, counts: session_facets.Counts, address: Address
) -> list[dict[str, Any]]:
    named = {state.value: marks.session(state.value) for state in states.SessionState}
    looks = {"": ("All", ""), sessions.ALIVE: ("Alive", "")}
    looks |= {name: (mark.word, mark.icon) for name, mark in named.items() if name != _OVER}
    looks |= {_OVER: ("Ended", "s-success")}
    return [
        {
            "label": label,
            "icon": icon,
            "count": counts.state.get(value, 0),
            "url": address(dataclasses.replace(filters, state=value)),
            "is_current": filters.state == value,
        }
        for value, (label, icon) in looks.items()
    ]


def _menus(
    filters: sessions.Filters, counts: session_facets.Counts, address: Address
) -> list[dict[str, Any]]:
    ended = {
        value: number for value, number in counts.state.items() if value.startswith(session_facets.ENDED)
    }
    is_end = filters.state.startswith(session_facets.ENDED)
    asked = [
        ("Group", "group", counts.group, str),
        ("Queue", "queue", counts.queue, str),
        ("Owner", "owner", _owners(filters, counts), _owner),
        ("Waits because", "reason", counts.reason, explain.pend_title),
        ("Ended as", "state", ended, _end),
    ]
    return [
        {
            "label": label,
            "value": name(getattr(filters, field)) if _is_set(filters, field, is_end=is_end) else "",
            "clear_url": address(dataclasses.replace(filters, **{field: ""})),
            "links": _links(filters, (field, values, name), address),
            "word": _WORDS.get(field, field),
            "left_off": max(0, len(values) - MOST),
        }
        for label, field, values, name in asked
    ]


def _is_set(filters: sessions.Filters, field: str, *, is_end: bool) -> bool:
    return is_end if field == "state" else bool(getattr(filters, field))


def _owners(filters: sessions.Filters, counts: session_facets.Counts) -> Mapping[str, int]:
    """Return the owners, the viewer first."""
    mine = {session_facets.ME: counts.mine} if counts.mine or filters.owner == session_facets.ME else {}
    return {**mine, **counts.owner}


def _owner(name: str) -> str:
    return "Me" if name == session_facets.ME else name


def _end(value: str) -> str:
    return marks.session(_OVER, value.removeprefix(session_facets.ENDED)).word


def _links(
    filters: sessions.Filters,
    facet: tuple[str, Mapping[str, int], Callable[[str], str]],
    address: Address,
) -> list[dict[str, Any]]:
    field, values, name = facet
    first = sorted(values, key=lambda value: (value != session_facets.ME, -values[value], value))[:MOST]
    return [
        {
            "label": name(value),
            "count": values[value],
            "url": address(dataclasses.replace(filters, **{field: value})),
            "is_current": getattr(filters, field) == value,
        }
        for value in first
    ]
