"""Amounts of slots in sentences: ``4 GPUs, 32 cores and 8 GiB``."""

from __future__ import annotations

from collections.abc import Mapping

from scheduler.core import rooms, units

Kinds = Mapping[str, units.SlotKind]
_ORDER = {"cuda.device": 0, "cpu": 1, "mem": 2}


def one(kind: str, number: int, *, kinds: Kinds = units.BUILT_IN) -> str:
    """
    Write one amount with its unit: ``4 GPUs``, ``1 GPU``, ``0.5 cores``, ``16 GiB``.

    Args:
        kind: a slot kind, ``sessions``, or ``rooms.PLACES``.
        number: in the kind's smallest unit.
        kinds: the declared kinds; of others the bare number is written with the kind's name.
    """
    if kind == "sessions":
        return "1 session" if number == 1 else f"{number} sessions"
    if kind == rooms.PLACES:
        return "1 session place" if number == 1 else f"{number} session places"
    known = kinds.get(kind)
    if known is None:
        return f"{number} {kind}"
    written = units.format_amount(known, number)
    if known.is_bytes:
        return written if kind == "mem" else f"{written} of {kind}"
    if not known.unit:
        return f"{written} {kind}"
    return f"{written} {known.unit.removesuffix('s') if written == '1' else known.unit}"


def below(kind: str, number: int, *, kinds: Kinds = units.BUILT_IN) -> str:
    """
    Write that there is less than an amount: ``fewer than 8 cores``, ``less than 1 core``, ``less than 16 GiB``.
    """
    known = kinds.get(kind)
    is_counted = known is None or not known.is_bytes
    written = bare(kind, number, kinds=kinds)
    word = "fewer" if is_counted and written.isdigit() and written != "1" else "less"
    return f"{word} than {one(kind, number, kinds=kinds)}"


def bare(kind: str, number: int, *, kinds: Kinds = units.BUILT_IN) -> str:
    """Write one amount without its unit."""
    known = kinds.get(kind)
    return units.format_amount(known, number) if known else str(number)


def listed(values: Mapping[str, int], *, kinds: Kinds = units.BUILT_IN) -> str:
    """Write several amounts as a list, devices first; zeros are left out, "nothing" when none is left."""
    order = sorted(values, key=lambda kind: (_ORDER.get(kind, 9), kind))
    parts = [one(kind, values[kind], kinds=kinds) for kind in order if values[kind]]
    if not parts:
        return "nothing"
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))
