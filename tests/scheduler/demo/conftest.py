"""The demo cluster, seeded into the test's database and a data directory of its own."""

import pytest

from scheduler.demo import seed
from scheduler.services import actors

SEED = actors.of_command("seed_demo")


@pytest.fixture
def said(db, settings, tmp_path):
    """Seed the demo once; returns the lines that it said."""
    settings.DATA_DIR = tmp_path
    lines = []
    seed.seed_demo(SEED, lines.append)
    return lines
