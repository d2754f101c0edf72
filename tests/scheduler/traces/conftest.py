"""A group that offers the kinds of a trace, and somebody to own its sessions."""

import pytest

from scheduler import models
from scheduler.services import actors
from scheduler.traces import room
from tests import model_factories

COMMAND = actors.of_command("submit_trace")


@pytest.fixture
def group(db):
    """Make the group `trace` with two nodes."""
    room.make(COMMAND, room.Room("trace"), say=lambda line: None)
    return models.ResourceGroup.objects.get(slug="trace")


@pytest.fixture
def owner(group):
    """Make an administrator; returns the actor."""
    return actors.of_user(model_factories.an_administrator())
