"""The small cluster of ``tests.worlds``."""

from __future__ import annotations

import pytest

from tests import worlds


@pytest.fixture
def world(db: None) -> worlds.World:
    """People in every role, a preemption, a wait."""
    return worlds.a_world()
