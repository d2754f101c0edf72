"""Many rows at once: values arrive as they were given, and the database refuses as ever."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, transaction

from scheduler import models
from scheduler.services import bulk
from tests import model_factories

COLUMNS = ("session_id", "node_id", "slots", "indices", "full_slots", "full_indices", "since")


def test_rows_arrive_as_given(make_cluster):
    cluster = make_cluster()
    session = cluster.submit(cluster.alice)
    slots, indices, since = {"cpu": 1, 'a "b"\t\\': 2}, {"cuda.device": [0, 3]}, model_factories.ago(5)

    with transaction.atomic():
        rows = [(session.pk, cluster.node.pk, slots, indices, slots, {}, since)]
        bulk.insert(models.Allocation, COLUMNS, rows)
        found = models.Allocation.objects.get()
        transaction.set_rollback(True)

    assert (found.session, found.node, found.since) == (session, cluster.node, since)
    assert (found.slots, found.indices, found.full_slots, found.full_indices) == (slots, indices, slots, {})


def test_arrays_and_nothing_arrive_as_given(make_cluster):
    cluster = make_cluster()
    session = cluster.submit(cluster.alice)
    names = (
        "session_id",
        "attempt",
        "epoch",
        "node_names",
        "dispatched_at",
        "how_ended",
        "was_checkpointed",
        "cpu_ms",
    )

    bulk.insert(
        models.Run, names, [(session.pk, 1, 1, ["n1", 'n"2'], model_factories.ago(1), "", False, None)]
    )

    run = models.Run.objects.get()
    assert (run.node_names, run.was_checkpointed, run.cpu_ms) == (["n1", 'n"2'], False, None)


def test_a_broken_constraint_is_an_integrity_error(make_cluster):
    cluster = make_cluster()
    columns = ("node_id", "kind", "capacity", "allocated", "reserved")

    with pytest.raises(IntegrityError), transaction.atomic():
        bulk.insert(models.NodeSlot, columns, [(cluster.node.pk, "other", 1, 2, 0)])


def test_a_statement_tells_how_many_rows_it_wrote(make_cluster):
    make_cluster()

    assert bulk.run("UPDATE scheduler_queue SET description = %s", "x") == 3


@pytest.mark.parametrize(("rows", "columns"), [([], [[], []]), ([(1, "a"), (2, "b")], [[1, 2], ["a", "b"]])])
def test_rows_become_columns(rows, columns):
    assert bulk.columns_of(rows, 2) == columns
