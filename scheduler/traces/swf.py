"""
Reader of the Standard Workload Format: 18 whole numbers a line, -1 = not known, `;` begins a comment.

Processors become cores, spread evenly over as many nodes as they need; memory is per processor there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from scheduler.traces import entries

COLUMNS = (
    "job number",
    "submit time",
    "wait time",
    "run time",
    "allocated processors",
    "average cpu time",
    "used memory",
    "requested processors",
    "requested time",
    "requested memory",
    "status",
    "user",
    "group",
    "executable",
    "queue",
    "partition",
    "preceding job",
    "think time",
)
#: columns that may hold decimals in logs of the archive; nothing here reads them
_UNREAD = frozenset({"average cpu time", "think time"})
KIB = 1024


def read(lines: Iterable[str], *, cores_per_node: int) -> Iterator[entries.Entry | entries.Fault]:
    """
    Read all lines.

    Args:
        lines: of the file, comments included.
        cores_per_node: >= 1; a job of more processors becomes a session of several nodes.
    """
    for number, line in enumerate(lines, start=1):
        text = line.partition(";")[0].strip()
        if text:
            yield _read_line(number, text.split(), cores_per_node=cores_per_node)


def _read_line(number: int, cells: list[str], *, cores_per_node: int) -> entries.Entry | entries.Fault:
    if len(cells) != len(COLUMNS):
        return entries.Fault(number, f"{len(cells)} fields instead of {len(COLUMNS)}")
    try:
        return _entry(number, _numbers(cells), cores_per_node=cores_per_node)
    except entries.BadValue as error:
        return entries.Fault(number, str(error))


def _numbers(cells: list[str]) -> dict[str, int]:
    pairs = zip(COLUMNS, cells, strict=True)
    return {name: entries.whole(cell, column=name, least=-1) for name, cell in pairs if name not in _UNREAD}


def _entry(number: int, row: dict[str, int], *, cores_per_node: int) -> entries.Entry:
    if row["submit time"] < 0:
        raise entries.BadValue("submit time is not known")
    processors = max(row["requested processors"], 0) or row["allocated processors"]
    if processors < 1:
        raise entries.BadValue("neither requested nor allocated processors are known")
    nodes = entries.at_most(-(-processors // cores_per_node), entries.MOST_NODES, column="number of nodes")
    each = -(-processors // nodes)
    return entries.Entry(
        line=number,
        name=f"swf-{row['job number']}",
        submit_ms=_ms(row, "submit time"),
        life_ms=_ms(row, "run time"),
        slots={"cpu": str(each), **_memory(row, each)},
        service_class=str(row["queue"]),
        node_count=nodes,
    )


def _ms(row: dict[str, int], column: str) -> int:
    return entries.at_most(max(row[column], 0), entries.MOST_SECONDS, column=column) * 1000


def _memory(row: dict[str, int], processors: int) -> dict[str, str]:
    """Return the memory of one node, {} where the log does not know it."""
    kib = max(row["requested memory"], 0) or max(row["used memory"], 0)
    total = entries.at_most(kib * processors * KIB, entries.MOST_AMOUNT, column="memory in bytes")
    return {"mem": str(total)} if total else {}
