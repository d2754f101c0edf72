"""The steps of an empty installation: their statements really take them."""

from __future__ import annotations

import getpass

import pytest

from scheduler import models
from tests import model_factories
from xceweb.dashboard.contexts import first_steps

pytestmark = pytest.mark.django_db


def done() -> list[bool]:
    """Return which steps are ticked."""
    return [step["is_done"] for step in first_steps.load()["steps"]]


def take(statements: tuple[str, ...]) -> None:
    """Run a step's statements as the shell would."""
    exec("\n".join(statements), {})


def test_an_empty_installation_has_everything_before_it() -> None:
    """None is done."""
    assert done() == [False] * 6


def test_the_commands_take_the_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Group, queue, node, person; agent and session come from elsewhere."""
    monkeypatch.setattr(getpass, "getpass", lambda: model_factories.PASSWORD)

    for statements in (first_steps.GROUP, first_steps.QUEUE, first_steps.NODE, first_steps.PERSON):
        take(statements)

    assert done() == [True, True, True, False, True, False]
    assert models.GroupRole.objects.get().role == "submitter"


def test_a_command_is_one_line_for_a_shell() -> None:
    """Quotes inside are single ones."""
    for statements in (first_steps.GROUP, first_steps.QUEUE, first_steps.NODE, first_steps.PERSON):
        assert first_steps.shell(statements).count('"') == 2
