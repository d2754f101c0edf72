"""
Moments as text, by integer arithmetic alone.

The core knows no calendar and no time zone but this one; pages hand in their own clock. Source: the
well-known civil-from-days algorithm (years of 400-year cycles that begin in March).
"""

from __future__ import annotations

_DAY_S = 86_400


def utc(moment: int) -> str:
    """Write a moment (microseconds since the epoch, any sign) as ``2026-01-31 09:05:07 UTC``."""
    days, second = divmod(moment // 1_000_000, _DAY_S)
    year, month, day = date(days)
    return f"{year:04d}-{month:02d}-{day:02d} {clock(second)} UTC"


def clock(second: int) -> str:
    """Write a second of the day (0..86399) as ``09:05:07``."""
    minutes, s = divmod(second, 60)
    h, m = divmod(minutes, 60)
    return f"{h:02d}:{m:02d}:{s:02d}"


def date(days: int) -> tuple[int, int, int]:
    """Return (year, month, day) of a number of days since 1970-01-01."""
    era, of_era = divmod(days + 719_468, 146_097)
    of_cycle = (of_era - of_era // 1_460 + of_era // 36_524 - of_era // 146_096) // 365
    of_year = of_era - (365 * of_cycle + of_cycle // 4 - of_cycle // 100)
    shifted = (5 * of_year + 2) // 153
    month = shifted + 3 if shifted < 10 else shifted - 9
    day = of_year - (153 * shifted + 2) // 5 + 1
    return of_cycle + era * 400 + (month <= 2), month, day
