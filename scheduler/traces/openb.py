"""
Reader of `openb_pods.csv`: the pods of a GPU cluster with cpu, memory, shares of GPUs and a service class.

A share of a GPU is a kind of its own, `gpu_milli`: thousandths, summed over the GPUs that a pod asks for.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator

from scheduler.traces import entries

HEADER = (
    "name",
    "cpu_milli",
    "memory_mib",
    "num_gpu",
    "gpu_milli",
    "gpu_spec",
    "qos",
    "pod_phase",
    "creation_time",
    "deletion_time",
    "scheduled_time",
)
#: of one pod; beyond any machine, and in thousandths far below what a session may ask for
MOST_GPUS = 1_000_000
CLASSES = {"LS": "urgent", "Guaranteed": "urgent", "Burstable": "normal", "BE": "background"}


def is_header(line: str) -> bool:
    """Say whether this is the first line of such a file."""
    return tuple(line.strip().lstrip("\ufeff").split(",")) == HEADER


def read(lines: Iterable[str]) -> Iterator[entries.Entry | entries.Fault]:
    """
    Read all lines after the header; empty lines are passed over.

    A line stands alone: a quotation mark that it does not close is its own fault, and swallows no other line.
    """
    for number, line in enumerate(lines, start=1):
        if number > 1 and line.strip():
            yield _read_line(number, line)


def _read_line(number: int, line: str) -> entries.Entry | entries.Fault:
    try:
        return _entry(number, _row(line))
    except entries.BadValue as error:
        return entries.Fault(number, str(error))


def _row(line: str) -> dict[str, str]:
    try:
        (cells,) = csv.reader([line], strict=True)
    except csv.Error as error:
        raise entries.BadValue(f"not to be read as comma-separated values: {error}") from None
    if len(cells) != len(HEADER):
        raise entries.BadValue(f"{len(cells)} columns instead of {len(HEADER)}")
    return dict(zip(HEADER, cells, strict=True))


def _entry(number: int, row: dict[str, str]) -> entries.Entry:
    name = entries.name_of(row["name"])
    if row["qos"] not in CLASSES:
        raise entries.BadValue(f"qos is {row['qos']!r}, not one of {', '.join(CLASSES)}")
    created = entries.moment_ms(row["creation_time"], column="creation_time")
    return entries.Entry(
        line=number,
        name=name,
        submit_ms=created,
        life_ms=_life_ms(row, created),
        slots=_slots(row),
        service_class=row["qos"],
    )


def _life_ms(row: dict[str, str], created: int) -> int:
    """Return from start to end; from arrival to end for the pods that were never placed."""
    deleted = entries.moment_ms(row["deletion_time"], column="deletion_time")
    begun = created
    if row["scheduled_time"]:
        begun = entries.moment_ms(row["scheduled_time"], column="scheduled_time")
    if deleted < begun:
        raise entries.BadValue("deletion_time is before the pod began")
    return deleted - begun


def _slots(row: dict[str, str]) -> dict[str, str]:
    cpu = entries.whole(row["cpu_milli"], column="cpu_milli", least=1)
    memory = entries.whole(row["memory_mib"], column="memory_mib", least=0)
    count = entries.whole(row["num_gpu"], column="num_gpu", least=0)
    share = entries.whole(row["gpu_milli"], column="gpu_milli", least=0)
    if share > 1000:
        raise entries.BadValue(f"gpu_milli is {share}, above one GPU (1000)")
    entries.at_most(memory << 20, entries.MOST_AMOUNT, column="memory_mib in bytes")
    entries.at_most(count, MOST_GPUS, column="num_gpu")
    slots = {"cpu": f"{cpu}m", "mem": f"{memory}m", "gpu_milli": str(count * share)}
    return {kind: amount for kind, amount in slots.items() if amount.rstrip("m") != "0"}
