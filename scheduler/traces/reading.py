"""A trace file as a whole: which format it is, every fault in it, and its last part with times from zero."""

from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Iterator

from scheduler.traces import entries, openb, swf

SHOWN_FAULTS = 5


class BadTrace(Exception):
    """The file cannot be replayed; the text names the file, the lines and what is wrong with them."""


@dataclasses.dataclass(frozen=True, slots=True)
class Trace:
    """What is to be submitted, in order of arrival; the first arrives at zero."""

    entries: tuple[entries.Entry, ...]
    skipped: int = 0  #: malformed lines that were passed over


def read(path: pathlib.Path, *, last: int | None, skip_bad: bool, cores_per_node: int = 64) -> Trace:
    """
    Read a file.

    Args:
        path: `openb_pods.csv` by its header, otherwise SWF.
        last: only so many of the latest arrivals; None = all.
        skip_bad: pass over malformed lines and count them.
        cores_per_node: for SWF, where a job becomes a session of several nodes.

    Raises:
        BadTrace: not to be read, no entry in it, or a malformed line without `skip_bad`.
    """
    good: list[entries.Entry] = []
    bad: list[entries.Fault] = []
    for item in _items(path, cores_per_node):
        (bad if isinstance(item, entries.Fault) else good).append(item)
    if bad and not skip_bad:
        raise BadTrace(_name_faults(path, bad))
    if not good:
        raise BadTrace(f"{path}: no session in it")
    good.sort(key=lambda entry: entry.submit_ms)
    return Trace(_from_zero(good[-last:] if last else good), len(bad))


def _items(path: pathlib.Path, cores_per_node: int) -> Iterator[entries.Entry | entries.Fault]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise BadTrace(f"{path}: no text, byte {error.start} is not UTF-8") from None
    except OSError as error:
        raise BadTrace(f"{path}: {error.strerror}") from None
    if lines and openb.is_header(lines[0]):
        return openb.read(lines)
    if path.suffix.lower() == ".csv":
        raise BadTrace(f"{path}:1: the header is not {','.join(openb.HEADER)}")
    return swf.read(lines, cores_per_node=cores_per_node)


def _name_faults(path: pathlib.Path, faults: list[entries.Fault]) -> str:
    lines = [f"{path}:{fault.line}: {fault.what}" for fault in faults[:SHOWN_FAULTS]]
    if len(faults) > SHOWN_FAULTS:
        lines.append(f"... and {len(faults) - SHOWN_FAULTS} more malformed lines")
    return "\n".join(lines)


def _from_zero(chosen: list[entries.Entry]) -> tuple[entries.Entry, ...]:
    first = chosen[0].submit_ms
    return tuple(dataclasses.replace(entry, submit_ms=entry.submit_ms - first) for entry in chosen)
