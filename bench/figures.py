"""Medians, quantiles and tables."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


def timed(call: Callable[[], T]) -> tuple[T, float]:
    """Return what ``call`` returns and how many milliseconds it took."""
    begun = time.perf_counter()
    found = call()
    return found, (time.perf_counter() - begun) * 1000


def quantile(values: Sequence[float], share: float) -> float:
    """Return the least value that ``share`` of the values do not exceed."""
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def median(values: Sequence[float]) -> float:
    """Return the median; nan of nothing."""
    return statistics.median(values) if values else math.nan


def mean(values: Sequence[float]) -> float:
    """Return the mean; nan of nothing."""
    return statistics.fmean(values) if values else math.nan


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a Markdown table; floats with three figures."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines)


def _cell(value: object) -> str:
    if not isinstance(value, float):
        return str(value)
    if math.isnan(value):
        return "-"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
