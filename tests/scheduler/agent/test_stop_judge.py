"""The judge of the schedules finds what is planted."""

import pytest

from scheduler.protocol import messages
from tests.scheduler.agent import bench, stop_judge

ORDERS = [
    messages.StopCommand(
        command_id=bench.new_id(), session=bench.new_id(), epoch=epoch, action="suspend", mode="suspend"
    )
    for epoch in (1, 2)
]


def an_act(number=0, **more):
    order = ORDERS[number]
    return {"what": "stop", "now": "T", "epoch": order.epoch, "order": order.command_id, "known": True} | more


ALL_WELL = [an_act(0), an_act(0, now=""), an_act(1, what="warn", now=""), an_act(1, now="X")]


def faults(acts, withdrawn=()):
    found = stop_judge.count(acts, ORDERS, set(withdrawn))
    return {name for name in stop_judge.FAULTS if found.get(name)}


def test_two_orders_that_are_carried_out_once_each_are_no_fault():
    assert stop_judge.count(ALL_WELL, ORDERS, set())["stops"] == 2
    assert faults(ALL_WELL) == set()
    assert faults(ALL_WELL[2:], [ORDERS[0].command_id]) == set()


@pytest.mark.parametrize(
    ("acts", "fault"),
    [
        ([*ALL_WELL, an_act(1)], "doubled"),
        (ALL_WELL[:2], "missed"),
        ([*ALL_WELL, an_act(order="nobody's")], "foreign"),
        ([*ALL_WELL, an_act(now="", known=False)], "unwritten"),
        ([*ALL_WELL, an_act(1, what="warn", now="")], "warned twice"),
    ],
)
def test_each_planted_fault_is_found_and_no_other(acts, fault):
    assert faults(acts) - {"missed"} == {fault} - {"missed"}
    assert fault in faults(acts)


def test_a_stop_of_another_epoch_is_foreign():
    assert "foreign" in faults([*ALL_WELL[1:], an_act(0, epoch=7)])
