"""The judge of the schedules finds what is planted."""

import pytest

from scheduler.protocol import messages
from tests.scheduler.agent import bench, stop_judge

ORDERS = [
    messages.StopCommand(
        command_id=bench.new_id(), session=bench.new_id(), epoch=epoch, action=action, mode=mode
    )
    for epoch, action, mode in ((1, "suspend", "suspend"), (2, "kill", "terminate"))
]


def an_act(number=0, **more):
    order = ORDERS[number]
    return {"what": "stop", "now": "T", "epoch": order.epoch, "order": order.command_id, "known": True} | more


WARN, GO_ON = an_act(1, what="warn", now=""), an_act(1, what="continue", now="S")
WARNED = [an_act(1), WARN, GO_ON]
ALL_WELL = [an_act(0), an_act(0, now=""), GO_ON, *WARNED, an_act(1, now="X")]


def faults(acts, withdrawn=()):
    found = stop_judge.count(acts, ORDERS, set(withdrawn))
    return {name for name in stop_judge.FAULTS if found.get(name)}


def test_two_orders_that_are_carried_out_once_each_are_no_fault():
    assert stop_judge.count(ALL_WELL, ORDERS, set())["stops"] == 2
    assert faults(ALL_WELL) == set()
    assert faults(ALL_WELL[3:], [ORDERS[0].command_id]) == set()


@pytest.mark.parametrize(
    ("acts", "fault"),
    [
        ([*ALL_WELL, an_act(0)], "doubled"),
        ([*ALL_WELL, an_act(1, now="X")], "doubled"),
        (ALL_WELL[:3], "missed"),
        (ALL_WELL[:-1], "missed"),
        ([*ALL_WELL, an_act(order="nobody's")], "foreign"),
        ([*ALL_WELL, an_act(now="", known=False)], "unwritten"),
        ([*ALL_WELL[:-1], WARN, ALL_WELL[-1]], "warned twice"),
        ([*ALL_WELL[:-1], *WARNED, ALL_WELL[-1]], "warned twice"),
        ([*ALL_WELL[:3], ALL_WELL[-1]], "not warned"),
    ],
)
def test_each_planted_fault_is_found_and_no_other(acts, fault):
    assert faults(acts) - {"missed"} == {fault} - {"missed"}
    assert fault in faults(acts)


def test_what_waits_while_a_session_is_held_is_one_warning_however_often_it_is_sent():
    assert faults([*ALL_WELL[:4], WARN, WARN, *ALL_WELL[5:]]) == set()


def test_a_stop_of_another_epoch_is_foreign():
    assert "foreign" in faults([*ALL_WELL[1:], an_act(0, epoch=7)])
