"""Lines of `openb_pods.csv`."""

import pytest

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
        ({"name": ""}, "name is empty"),
        ({"cpu_milli": "0"}, "cpu_milli is 0, below 1"),
        ({"cpu_milli": "1.5"}, "cpu_milli is '1.5', not a whole number"),
        ({"memory_mib": "-1"}, "memory_mib is -1, below 0"),
        ({"gpu_milli": "1001"}, "gpu_milli is 1001, above one GPU (1000)"),
        ({"qos": "Gold"}, "qos is 'Gold', not one of LS, Guaranteed, Burstable, BE"),
        ({"creation_time": "soon"}, "creation_time is 'soon', not a number of seconds"),
        ({"creation_time": "-5"}, "creation_time is -5, below 0"),
        ({"deletion_time": ""}, "deletion_time is '', not a number of seconds"),
        ({"deletion_time": "90"}, "deletion_time is before the pod began"),
        ({"pod_phase": "a,b"}, "12 columns instead of 11"),
    ],
)
def test_a_malformed_line_says_what_is_wrong(changes, what):
    assert entries.Fault(2, what) == read_one(**changes)
