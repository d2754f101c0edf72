"""Lines of the Standard Workload Format."""

import pytest

from scheduler.traces import entries, swf

GOOD = "7 60 -1 300 4 -1 -1 8 600 1024 1 3 1 -1 2 -1 -1 -1"


def read_one(line, *, cores_per_node=64):
    (item,) = swf.read(["; a comment", line], cores_per_node=cores_per_node)
    return item


def changed(**cells):
    """Return the good line with cells changed by column name, `_` for a blank."""
    values = dict(zip(swf.COLUMNS, GOOD.split(), strict=True))
    values.update({name.replace("_", " "): value for name, value in cells.items()})
    return " ".join(values.values())


def test_a_line_becomes_an_entry():
    expected = entries.Entry(
        line=2,
        name="swf-7",
        submit_ms=60_000,
        life_ms=300_000,
        slots={"cpu": "8", "mem": str(8 * 1024 * 1024)},
        service_class="2",
    )

    assert expected == read_one(GOOD)


def test_unknown_request_falls_back_to_what_was_allocated():
    item = read_one(changed(requested_processors="-1", requested_memory="-1"))

    assert item.slots == {"cpu": "4"}


def test_many_processors_are_spread_evenly_over_nodes():
    item = read_one(changed(requested_processors="100"), cores_per_node=64)

    assert item.node_count == 2
    assert item.slots["cpu"] == "50"


def test_an_unknown_run_time_is_no_time():
    assert read_one(changed(run_time="-1")).life_ms == 0


def test_decimals_in_columns_that_nothing_reads_are_passed_over():
    assert read_one(changed(average_cpu_time="12.75")).name == "swf-7"


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("1 2 3", "3 fields instead of 18"),
        (changed(submit_time="-1"), "submit time is not known"),
        (changed(run_time="long"), "run time is 'long', not a whole number"),
        (changed(queue="-2"), "queue is -2, below -1"),
        (
            changed(requested_memory="9" * 15),
            "memory in bytes comes to 8191999999999991808, above 4611686018427387903",
        ),
        (changed(requested_processors="9" * 15), "number of nodes comes to 15625000000000, above 10000"),
        (changed(run_time="9" * 15), "run time comes to 999999999999999, above 4000000000"),
        (changed(submit_time="9" * 15), "submit time comes to 999999999999999, above 4000000000"),
        (
            changed(requested_processors="-1", allocated_processors="-1"),
            "neither requested nor allocated processors are known",
        ),
    ],
)
def test_a_malformed_line_says_what_is_wrong(line, what):
    assert entries.Fault(2, what) == read_one(line)
