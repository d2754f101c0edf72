"""The submit form as it reads what people write."""

from __future__ import annotations

import pytest

from scheduler import errors
from tests import worlds
from xceweb.dashboard import submit_form


def a_form(world: worlds.World, **changes: str) -> submit_form.SubmitForm:
    """Return a sent form with changes."""
    sent = {"name": "n", "session_type": "batch", "command": "true", "group": "gpu", "queue": "normal"}
    sent |= {"slot-cpu": "1", "exit_0_after_warning": "finished"}
    return submit_form.SubmitForm(world.people["owner"], {**sent, **changes})


@pytest.mark.parametrize(
    ("text", "seconds"), [("", None), ("90", 90), ("90s", 90), ("15m", 900), ("2 h", 7_200), ("1D", 86_400)]
)
def test_a_length_of_time_is_read_as_written(world: worlds.World, text: str, seconds: int | None) -> None:
    """With its unit, seconds without one."""
    form = a_form(world, wall_time=text)

    assert form.is_valid(), form.errors
    assert form.to_request().wall_limit == seconds


def test_what_is_left_empty_is_not_asked_for(world: worlds.World) -> None:
    """Amounts as text for the service; ranks by default."""
    form = a_form(world)

    assert form.is_valid()
    request = form.to_request()
    assert (request.slots, request.priority, request.job_priority, request.node_count) == (
        {"cpu": "1"},
        None,
        10,
        1,
    )


def test_every_kind_has_a_field(world: worlds.World) -> None:
    """Devices first."""
    assert [field.name for field in a_form(world).slot_fields] == ["slot-cuda.device", "slot-cpu", "slot-mem"]


@pytest.mark.parametrize(
    ("fields", "where"),
    [
        ({"slots": "mem: 4x is none"}, "slot-mem"),
        ({"slots": "ask for at least one"}, "slot-cuda.device"),
        ({"type": "no"}, "session_type"),
        ({"wall_limit": "no"}, "wall_time"),
        ({"unheard_of": "no"}, "__all__"),
        ({}, "__all__"),
    ],
)
def test_a_refusal_is_shown_where_it_was_made(
    world: worlds.World, fields: dict[str, str], where: str
) -> None:
    """And one without a place at the top."""
    form = a_form(world)
    form.is_valid()

    form.add_refusal(errors.Refusal("not so", fields=fields))

    assert list(form.errors) == [where]


def test_importances_stay_within_the_cap() -> None:
    """Equal ones are shown once."""
    assert [tier["value"] for tier in submit_form.tiers(100, 10)] == [5, 10, 100]
    assert [tier["value"] for tier in submit_form.tiers(5, 10)] == [5]
