"""The messages as a set."""

import dataclasses

import pytest

from scheduler.protocol import fields, messages
from tests.scheduler.protocol import builders


def test_a_preemption_stop_carries_the_number_of_xce():
    stop = messages.StopCommand(
        command_id=builders.UUID, session=builders.UUID, epoch=1, action="kill", mode="terminate"
    )

    assert stop.hook is fields.HookDetail.JOB_STOP
    assert stop.hook == 65


@pytest.mark.parametrize("cls", builders.ALL, ids=lambda cls: cls.TYPE)
def test_every_message_is_a_frozen_value_with_a_docstring(cls):
    assert cls.__dataclass_params__.frozen
    assert cls.__doc__
    assert dataclasses.is_dataclass(cls)


def test_every_name_of_the_two_halves_is_offered_in_one_place():
    assert {cls.__name__ for cls in builders.ALL} <= set(messages.__all__)
