"""
The query language of session lists: ``state:pending queue:gpu age>1h user:me night run``.

Words with a colon or a comparison narrow by a field, others match names; a value may be several with commas. It only
ever narrows what the viewer may see, and fields that a summary hides match only where the viewer reads the session in
full: a search must not tell what a page hides. Source: ECOSYSTEM C.1.
"""

from __future__ import annotations

import dataclasses
import datetime
import re
import shlex
import uuid
from collections.abc import Callable, Mapping

from django.db.models import Q, QuerySet

from scheduler import clock, errors, models
from scheduler.core import decisions, entities, states
from scheduler.selectors import permissions, verdicts

_TOKEN = re.compile(r"(?P<key>[a-z_]+)(?P<sign>>=|<=|:|=|>|<)(?P<value>.*)\Z", re.DOTALL)
_LENGTH = re.compile(r"(\d{1,9})([smhdw])\Z")
_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_INVERTED = {">": "lt", ">=": "lte", "<": "gt", "<=": "gte"}
_COMPARED = {">": "gt", ">=": "gte", "<": "lt", "<=": "lte", "=": "exact", ":": "exact"}
MOST_TOKENS = 30


@dataclasses.dataclass(frozen=True, slots=True)
class _Asked:
    """One word of a query, split."""

    viewer: models.User
    key: str
    sign: str
    value: str

    @property
    def values(self) -> list[str]:
        return [value for value in self.value.split(",") if value]


def narrow(found: QuerySet[models.Session], viewer: models.User, text: str) -> QuerySet[models.Session]:
    """
    Return the sessions, all visible to the viewer, that a query asks for.

    Raises:
        Refusal: a word that cannot be read; the text says what would be right.
    """
    if "\0" in text:
        raise _refusal("may hold no NUL character")
    for word in _words(text):
        found = found.filter(_meaning(viewer, word))
    return found


def meaning(viewer: models.User, key: str, value: str) -> Q:
    """
    Return what one field of the language means, asked with a colon.

    Raises:
        Refusal: the value cannot be read, or is missing; the text says what would be right.
    """
    asked = _Asked(viewer, key, ":", value)
    if "\0" in value or not asked.values:
        raise errors.Refusal(code="invalid", fields={key: "needs a value, without NUL characters"})
    try:
        return FIELDS[key](asked)
    except errors.Refusal as refusal:
        raise errors.Refusal(code="invalid", fields={key: refusal.fields["q"]}) from None


def _words(text: str) -> list[str]:
    try:
        words = shlex.split(text, posix=True)
    except ValueError:
        raise _refusal("a quotation is not closed") from None
    if len(words) > MOST_TOKENS:
        raise _refusal(f"has {len(words)} words; at most {MOST_TOKENS} are taken")
    return words


def _meaning(viewer: models.User, word: str) -> Q:
    match = _TOKEN.match(word)
    if match is None or match["key"] not in FIELDS:
        if match is not None and match["sign"] == ":":
            raise _refusal(f"knows no field {match['key']!r}; there are: {', '.join(sorted(FIELDS))}")
        return _name(_Asked(viewer, "name", ":", word))
    asked = _Asked(viewer, match["key"], match["sign"], match["value"])
    if not asked.values:
        raise _refusal(f"{asked.key} needs a value")
    return FIELDS[asked.key](asked)


def _refusal(text: str) -> errors.Refusal:
    return errors.Refusal(code="invalid", fields={"q": text})


def _plain(asked: _Asked) -> None:
    if asked.sign not in (":", "="):
        raise _refusal(f"{asked.key} is compared with ':' alone")


def _one_of(column: str, allowed: list[str]) -> Callable[[_Asked], Q]:
    def meaning(asked: _Asked) -> Q:
        _plain(asked)
        if unknown := sorted(set(asked.values) - set(allowed)):
            raise _refusal(f"{asked.key} {unknown[0]!r} is none of {', '.join(allowed)}")
        return Q(**{f"{column}__in": asked.values})

    return meaning


def _named(column: str) -> Callable[[_Asked], Q]:
    def meaning(asked: _Asked) -> Q:
        _plain(asked)
        return Q(**{f"{column}__in": asked.values})

    return meaning


def _state(asked: _Asked) -> Q:
    _plain(asked)
    over = states.SessionState.TERMINATED.value
    named = {"alive": ~Q(state=over), "over": Q(state=over)}
    names = [*(state.value for state in states.SessionState), *named]
    if unknown := sorted(set(asked.values) - set(names)):
        raise _refusal(f"state {unknown[0]!r} is none of {', '.join(names)}")
    found = Q(state__in=[value for value in asked.values if value not in named])
    for value in asked.values:
        found |= named.get(value, Q(pk__in=[]))
    return found


def _name(asked: _Asked) -> Q:
    by_name = Q(name__icontains=asked.value) & permissions.readable_sessions(asked.viewer)
    try:
        return by_name | Q(public_id=uuid.UUID(asked.value))
    except ValueError:
        return by_name


def _user(asked: _Asked) -> Q:
    _plain(asked)
    others = [value for value in asked.values if value != "me"]
    found = Q(owner__username__in=others) & permissions.readable_sessions(asked.viewer)
    return found | Q(owner=asked.viewer) if "me" in asked.values else found


def _node(asked: _Asked) -> Q:
    _plain(asked)
    holders = models.Allocation.objects.filter(node__name__in=asked.values).values("session")
    return Q(pk__in=holders) & permissions.readable_sessions(asked.viewer)


def _reason(asked: _Asked) -> Q:
    _plain(asked)
    known = [reason.value for reason in decisions.PendReason]
    if unknown := sorted(set(asked.values) - set(known)):
        raise _refusal(f"reason {unknown[0]!r} is none of {', '.join(known)}")
    found = Q(pk__in=[])
    for value in asked.values:
        found |= verdicts.waits_for(value)
    return found & permissions.readable_sessions(asked.viewer)


def _age(column: str) -> Callable[[_Asked], Q]:
    def meaning(asked: _Asked) -> Q:
        match = _LENGTH.match(asked.value)
        if match is None or asked.sign not in _INVERTED:
            raise _refusal(
                f"{asked.key} is compared as in {asked.key}>1h; lengths are 90s, 15m, 2h, 1d or 1w"
            )
        seconds = int(match[1]) * _SECONDS[match[2]]
        moment = clock.now() - datetime.timedelta(seconds=min(seconds, 3_000_000_000))
        return Q(**{f"{column}__{_INVERTED[asked.sign]}": moment})

    return meaning


def _number(column: str, *, is_inner: bool) -> Callable[[_Asked], Q]:
    def meaning(asked: _Asked) -> Q:
        if not re.fullmatch(r"-?\d{1,9}", asked.value):
            raise _refusal(f"{asked.key} is compared with a whole number")
        found = Q(**{f"{column}__{_COMPARED[asked.sign]}": int(asked.value)})
        return found & permissions.readable_sessions(asked.viewer) if is_inner else found

    return meaning


#: What may stand before the colon.
FIELDS: Mapping[str, Callable[[_Asked], Q]] = {
    "state": _state,
    "result": _one_of("result", [result.value for result in states.Result]),
    "type": _one_of("type", [kind.value for kind in entities.SessionType]),
    "queue": _named("queue__slug"),
    "group": _named("group__slug"),
    "user": _user,
    "name": _name,
    "node": _node,
    "reason": _reason,
    "age": _age("submitted_at"),
    "since": _age("state_since"),
    "priority": _number("priority", is_inner=True),
    "job_priority": _number("job_priority", is_inner=True),
    "preempted": _number("times_preempted", is_inner=True),
}
