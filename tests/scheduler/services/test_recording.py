"""What stays of a round: its row and snapshot, where a decision points at it."""

from __future__ import annotations

import hashlib
import json
import zlib

from scheduler import models
from scheduler.core import CORE_VERSION, decisions
from scheduler.selectors import stored_rounds
from scheduler.services import actors, control, recording


def test_a_preemption_stores_the_snapshot_that_it_was_decided_on(make_cluster):
    cluster = make_cluster(preemption_state="on", preemption_mode="suspend")
    low, high = cluster.contest()

    row = models.Round.objects.get()
    text = zlib.decompress(bytes(row.snapshot))

    assert row.digest == hashlib.sha256(text).hexdigest()
    assert {item["id"] for item in json.loads(text)["sessions"]} == {low.pk, high.pk}
    assert (row.core_version, row.preempted, row.pended) == (CORE_VERSION, 1, 1)


def test_all_decisions_of_a_stored_round_are_kept_in_short(make_cluster):
    cluster = make_cluster(preemption_state="on", preemption_mode="suspend")
    low, high = cluster.contest()

    outline = stored_rounds.unpacked(models.Round.objects.get().outline)

    assert outline["preempt"][str(high.pk)]["victims"] == [low.pk]
    assert outline["pend"] == {"awaiting-victims": [high.pk]}


def test_a_changed_headline_has_its_round_stored_and_the_same_again_has_not(make_cluster):
    cluster = make_cluster()
    session = cluster.submit(cluster.alice, cpu="8")
    cluster.round()
    cluster.round()
    control.hold_session(actors.of_user(cluster.alice), session)
    cluster.round()

    assert list(models.Round.objects.order_by("number").values_list("number", flat=True)) == [1, 3]


def test_one_round_in_so_many_is_stored_whole_the_others_as_differences(make_cluster, monkeypatch):
    monkeypatch.setattr(recording, "WHOLE_EVERY", 3)
    cluster = make_cluster()
    for place in range(5):
        cluster.submit(cluster.alice, cpu="8", name=f"s{place}")
        cluster.round()

    rows = list(models.Round.objects.order_by("number").select_related("base"))

    assert [row.base and row.base.number for row in rows] == [None, 1, 1, None, 4]
    changed = stored_rounds.unpacked(rows[1].snapshot)["rows"]
    assert [len(changed["sessions"]), "nodes" in changed] == [1, False]
    for row in rows:
        text = stored_rounds.text(stored_rounds.plain_of(row))
        assert row.digest == hashlib.sha256(text.encode()).hexdigest()


def test_a_group_whose_last_whole_snapshot_is_gone_begins_with_a_whole_one_again(make_cluster):
    cluster = make_cluster()
    cluster.submit(cluster.alice, cpu="8")
    cluster.round()
    models.Round.objects.update(snapshot=None)
    cluster.submit(cluster.alice, cpu="8")
    cluster.round()

    assert models.Round.objects.latest("number").base is None


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
