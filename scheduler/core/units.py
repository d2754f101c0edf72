"""
Amounts as people type them (``2`` cores, ``0.5``, ``4g``) and as they read them (``4 GiB``).

Inside the system every amount is an integer in the kind's smallest unit. A kind has a declared scale: how
many of the smallest unit make one of the unit that people write. Parsing is exact; what cannot be represented
is refused.
"""

from __future__ import annotations

import dataclasses
import fractions
import re

from scheduler.core import errors

_BINARY = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40, "p": 1 << 50}
_NUMBER = re.compile(r"(\d{1,18}(?:\.\d{1,12})?)\s*([a-zA-Z]*)\Z")
_MAXIMUM = (1 << 62) - 1


@dataclasses.dataclass(frozen=True, slots=True)
class SlotKind:
    """One kind of slot."""

    name: str  #: ``cpu``, ``mem``, ``cuda.device``, or any other declared name
    scale: int  #: smallest units in one unit that people write, >= 1
    is_bytes: bool = False  #: written with k, m, g, t (powers of 1024)
    is_indexed: bool = False  #: has device indices; whole units only
    unit: str = ""  #: what people call one: "cores", "GPUs"


CPU = SlotKind("cpu", 1000, unit="cores")
MEM = SlotKind("mem", 1, is_bytes=True, unit="bytes")
CUDA_DEVICE = SlotKind("cuda.device", 1, is_indexed=True, unit="GPUs")
BUILT_IN = {kind.name: kind for kind in (CPU, MEM, CUDA_DEVICE)}


def parse_amount(kind: SlotKind, text: str) -> int:
    """
    Read an amount as a person writes it.

    Args:
        kind: the slot kind.
        text: ``2``, ``0.5``, ``500m`` (cpu: milli), ``4g`` (bytes: k, m, g, t, p with an optional ``b`` or
            ``ib``).

    Returns:
        The amount in the kind's smallest unit, >= 0.

    Raises:
        BadAmount: not a number, an unknown suffix, finer than the smallest unit, or too large.
    """
    match = _NUMBER.match(text.strip())
    if match is None:
        raise errors.BadAmount(f"{kind.name}: {text!r} is not an amount; write for example {_example(kind)}")
    value = fractions.Fraction(match[1]) * _multiplier(kind, match[2], text)
    if value.denominator != 1:
        raise errors.BadAmount(f"{kind.name}: {text!r} is finer than the smallest unit, 1/{kind.scale}")
    if value > _MAXIMUM:
        raise errors.BadAmount(f"{kind.name}: {text!r} is too large")
    return int(value)


def _multiplier(kind: SlotKind, suffix: str, text: str) -> fractions.Fraction:
    suffix = suffix.lower()
    if kind.is_bytes:
        letter = suffix.removesuffix("ib").removesuffix("b")
        if letter in _BINARY:
            return fractions.Fraction(_BINARY[letter])
    elif suffix == "":
        return fractions.Fraction(kind.scale)
    elif suffix == "m" and kind.scale == 1000:
        return fractions.Fraction(1)
    raise errors.BadAmount(f"{kind.name}: {text!r} has an unknown unit; write for example {_example(kind)}")


def _example(kind: SlotKind) -> str:
    if kind.is_bytes:
        return "512m or 4g"
    return "2 or 0.5" if kind.scale > 1 else "2"


def format_amount(kind: SlotKind, amount: int) -> str:
    """
    Write an amount as people read it, exactly where a short form exists.

    Returns:
        ``2``, ``0.5`` or, for bytes, ``4 GiB``, ``1.5 GiB``, ``100 B`` (rounded to one decimal place only where it
        does not divide). ``parse_amount`` reads all of them.
    """
    if kind.is_bytes:
        return _format_bytes(amount)
    whole, rest = divmod(amount, kind.scale)
    if not rest:
        return str(whole)
    digits = len(str(kind.scale)) - 1
    if 10**digits != kind.scale:
        return f"{amount}/{kind.scale}"
    return f"{whole}.{rest:0{digits}d}".rstrip("0")


def _format_bytes(amount: int) -> str:
    for letter in ("t", "g", "m", "k"):
        step = _BINARY[letter]
        if amount >= step:
            tenths = (amount * 10 + step // 2) // step
            whole, tenth = divmod(tenths, 10)
            word = f"{letter.upper()}iB"
            return f"{whole}.{tenth} {word}" if tenth else f"{whole} {word}"
    return f"{amount} B" if amount else "0"
