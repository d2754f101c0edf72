"""Lines of `openb_pods.csv`."""

import pytest

from scheduler.core import units
from scheduler.traces import entries, openb

GOOD = {
    "name": "pod-1",
    "cpu_milli": "11300",
    "memory_mib": "49152",
    "num_gpu": "1",
    "gpu_milli": "470",
    "gpu_spec": "",
    "qos": "LS",
    "pod_phase": "Running",
    "creation_time": "100",
    "deletion_time": "516",
    "scheduled_time": "110",
}


def read_one(**changes):
    lines = [",".join(openb.HEADER), ",".join({**GOOD, **changes}.values())]
    (item,) = openb.read(lines)
    return item


def test_a_line_becomes_an_entry():
    expected = entries.Entry(
        line=2,
        name="pod-1",
        submit_ms=100_000,
        life_ms=406_000,
        slots={"cpu": "11300m", "mem": "49152m", "gpu_milli": "470"},
        service_class="LS",
    )

    assert expected == read_one()


def test_shares_are_summed_over_gpus():
    assert read_one(num_gpu="8", gpu_milli="1000").slots["gpu_milli"] == "8000"


def test_kinds_of_zero_are_left_out():
    assert read_one(num_gpu="0", gpu_milli="0", memory_mib="0").slots == {"cpu": "11300m"}


def test_a_pod_that_was_never_placed_lives_from_its_arrival():
    assert read_one(scheduled_time="").life_ms == 416_000


def test_decimals_of_times_count():
    assert read_one(creation_time="100.25").submit_ms == 100_250


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"name": " "}, "name is empty"),
        ({"name": "p" * 101}, "name has 101 characters, more than 100"),
        ({"name": "pod\t1"}, r"name is 'pod\t1', with characters that cannot be printed"),
        ({"name": '"pod-1'}, "not to be read as comma-separated values: unexpected end of data"),
        (
            {"gpu_spec": "x" * 131_073},
            "not to be read as comma-separated values: field larger than field limit (131072)",
        ),
        ({"cpu_milli": "0"}, "cpu_milli is 0, below 1"),
        ({"cpu_milli": "1.5"}, "cpu_milli is '1.5', not a whole number"),
        ({"memory_mib": "-1"}, "memory_mib is -1, below 0"),
        ({"gpu_milli": "1001"}, "gpu_milli is 1001, above one GPU (1000)"),
        ({"qos": "Gold"}, "qos is 'Gold', not one of LS, Guaranteed, Burstable, BE"),
        ({"creation_time": "soon"}, "creation_time is 'soon', not a number of seconds"),
        ({"creation_time": "-5"}, "creation_time is -5, below 0"),
        ({"deletion_time": ""}, "deletion_time is '', not a number of seconds"),
        ({"deletion_time": "90"}, "deletion_time is before the pod began"),
        (
            {"memory_mib": "9" * 15},
            "memory_mib in bytes comes to 1048575999999998951424, above 4611686018427387903",
        ),
        ({"num_gpu": "9" * 15}, "num_gpu comes to 999999999999999, above 1000000"),
        ({"deletion_time": "9" * 12}, "deletion_time comes to 999999999999, above 4000000000"),
        ({"pod_phase": "a,b"}, "12 columns instead of 11"),
    ],
)
def test_a_malformed_line_says_what_is_wrong(changes, what):
    assert entries.Fault(2, what) == read_one(**changes)


def test_a_quotation_mark_that_does_not_close_swallows_no_other_line():
    good = ",".join(GOOD.values())
    items = list(openb.read([",".join(openb.HEADER), good, f'"{good}', good, f'{good[:-3]}"', good]))

    assert [item.line for item in items] == [2, 3, 4, 5, 6]
    assert [isinstance(item, entries.Fault) for item in items] == [False, True, False, True, False]


def test_a_field_in_quotation_marks_may_hold_a_comma():
    assert read_one(gpu_spec='"V100,P100"').name == "pod-1"


def test_a_name_may_have_as_many_characters_as_a_session_may():
    assert read_one(name="p" * entries.NAME_LIMIT).name == "p" * entries.NAME_LIMIT


def test_the_largest_amounts_that_are_read_can_be_asked_for():
    slots = read_one(
        cpu_milli="9" * 15, memory_mib=str((1 << 42) - 1), num_gpu="1000000", gpu_milli="1000"
    ).slots
    kinds = {**units.BUILT_IN, "gpu_milli": units.SlotKind("gpu_milli", 1)}

    assert all(units.parse_amount(kinds[kind], amount) for kind, amount in slots.items())
