"""
What controller and policy worker say to each other: one JSON object a line, integers and names alone.

An answer comes from foreign code and is read strictly: nothing but a node and a list of session ids, all integers.
"""

from __future__ import annotations

import dataclasses
import json
from typing import Any, NoReturn

from scheduler.core import entities
from scheduler.core.preemption import policy

_PROBLEM = tuple(field.name for field in dataclasses.fields(policy.Problem) if field.compare)
_TARGET = tuple(field.name for field in dataclasses.fields(policy.Target))
_CANDIDATE = tuple(field.name for field in dataclasses.fields(policy.Candidate))
_CLASS_NAME_MOST = 64  # characters; a class of foreign code may have any name


def question(number: int, problem: policy.Problem) -> bytes:
    """Return the line that asks: the problem, with the number that the answer must bear."""
    plain = {name: getattr(problem, name) for name in _PROBLEM}
    plain["order"] = problem.order.value
    plain["targets"] = [_plain_target(target) for target in problem.targets]
    return line({"number": number, "problem": plain})


def line(message: dict[str, Any]) -> bytes:
    """Return a message as a line."""
    return json.dumps(message, separators=(",", ":"), allow_nan=False).encode() + b"\n"


def _plain_target(target: policy.Target) -> dict[str, Any]:
    plain = {name: getattr(target, name) for name in _TARGET}
    plain["candidates"] = [[getattr(one, name) for name in _CANDIDATE] for one in target.candidates]
    return plain


def problem(message: dict[str, Any]) -> policy.Problem:
    """Return the problem of a question, as the core made it."""
    plain = message["problem"]
    order = entities.PreemptionOrder(plain["order"])
    targets = tuple(_target(each) for each in plain["targets"])
    return policy.Problem(**{**plain, "order": order, "targets": targets})


def _target(plain: dict[str, Any]) -> policy.Target:
    candidates = tuple(_candidate(each) for each in plain["candidates"])
    return policy.Target(**{**plain, "need": tuple(plain["need"]), "candidates": candidates})


def _candidate(values: list[Any]) -> policy.Candidate:
    named = dict(zip(_CANDIDATE, values, strict=True))
    return policy.Candidate(**{**named, "gives": tuple(named["gives"])})


def answer(text: bytes, *, number: int) -> policy.Answer | None:
    """
    Return what a worker answered.

    Raises:
        PolicyFailed: it reports an error, or the line is no answer to this question.
    """
    message = read(text)
    if type(message.get("number")) is not int or message["number"] != number:
        _malformed()
    if "error" in message:
        raise policy.PolicyFailed(f"failed: {class_name(message['error'])}")
    if "fault" in message:
        raise policy.PolicyFailed(_FAULTS.get(message["fault"], _MALFORMED))
    return _answer(message.get("answer", ()))


def read(text: bytes) -> dict[str, Any]:
    """Return the object on a line; raises ``PolicyFailed`` when there is none."""
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        _malformed()
    if not isinstance(message, dict):
        _malformed()
    return message


def _answer(plain: object) -> policy.Answer | None:
    if plain is None:
        return None
    if not isinstance(plain, list) or len(plain) != 2 or type(plain[0]) is not int:
        _malformed()
    ids = plain[1]
    if not isinstance(ids, list) or any(type(each) is not int for each in ids):
        _malformed()
    return policy.Answer(plain[0], tuple(ids))


def class_name(text: object) -> str:
    """Return the name of an exception's class; of one that is no name, or too long, the plain word."""
    is_name = isinstance(text, str) and text.isidentifier() and len(text) <= _CLASS_NAME_MOST
    return str(text) if is_name else "an exception"


_MALFORMED = "gave no answer of the form (node_id, [session_id, ...])"
_FAULTS = {"shape": _MALFORMED, "processes": "left a process of its own behind"}


def _malformed() -> NoReturn:
    raise policy.PolicyFailed(_MALFORMED)
