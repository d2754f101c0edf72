"""Snapshots that are kept longer than the setting says."""

from __future__ import annotations

import datetime

from scheduler import clock, models, tasks
from scheduler.services import pruning


def stored(cluster, days_ago: int, *, base: models.Round | None = None) -> models.Round:
    """Make a stored round with a snapshot."""
    return models.Round.objects.create(
        group=cluster.group,
        number=1000 - days_ago,
        policy=cluster.group.policy,
        core_version="1",
        digest="0" * 64,
        snapshot=b"x",
        base=base,
        at=clock.now() - datetime.timedelta(days=days_ago),
        duration_ms=1,
    )


def kept(*rows: models.Round) -> list[bool]:
    """Say of each round whether its snapshot is still there."""
    for row in rows:
        row.refresh_from_db()
    return [row.snapshot is not None for row in rows]


def test_old_snapshots_are_emptied_unless_a_younger_one_builds_on_them(make_cluster, settings):
    settings.KEEP_SNAPSHOTS_DAYS = 10
    cluster = make_cluster()
    alone, base = stored(cluster, 30), stored(cluster, 20)
    old, young = stored(cluster, 15, base=base), stored(cluster, 5, base=base)

    assert pruning.prune_snapshots() == 2
    assert kept(alone, base, old, young) == [False, True, False, True]
    assert pruning.prune_snapshots() == 0


def test_zero_days_keep_everything(make_cluster, settings):
    settings.KEEP_SNAPSHOTS_DAYS = 0
    row = stored(make_cluster(), 1000)
    tasks.prune()

    assert kept(row) == [True]


def test_the_task_empties_what_is_old(make_cluster, settings):
    settings.KEEP_SNAPSHOTS_DAYS = 90
    row = stored(make_cluster(), 91)
    tasks.prune()

    assert kept(row) == [False]
