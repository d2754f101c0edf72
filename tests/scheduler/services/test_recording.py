"""What stays of a round: its row and snapshot, where a decision points at it."""

from __future__ import annotations

import hashlib
import json
import zlib

from scheduler import models
from scheduler.core import CORE_VERSION, decisions
from scheduler.services import recording


def test_a_preemption_stores_the_snapshot_that_it_was_decided_on(make_cluster):
    cluster = make_cluster(preemption_state="on", preemption_mode="suspend")
    low, high = cluster.contest()

    row = models.Round.objects.get()
    text = zlib.decompress(bytes(row.snapshot))

    assert row.digest == hashlib.sha256(text).hexdigest()
    assert {item["id"] for item in json.loads(text)["sessions"]} == {low.pk, high.pk}
    assert (row.core_version, row.preempted, row.pended) == (CORE_VERSION, 1, 1)


def test_a_decision_keeps_the_core_record_whole(make_cluster):
    cluster = make_cluster(preemption_state="on", preemption_mode="suspend")
    low, _ = cluster.contest()

    decision = models.Decision.objects.get()

    assert [victim["session_id"] for victim in decision.record["victims"]] == [low.pk]
    assert decision.record["preemptor_value"] == decision.preemptor_value == 20
    assert decision.op == decisions.DecisionOp.PREEMPT


def test_a_row_that_was_rolled_back_is_forgotten():
    record = recording.RoundRecord.__new__(recording.RoundRecord)
    record._row = None
    mark = record.mark()
    record._row = models.Round()

    record.back_to(mark)

    assert record._row is None
