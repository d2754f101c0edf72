"""The latest headline of each waiting session: written where it changed, told when the headline did."""

from __future__ import annotations

from scheduler import models
from scheduler.services import pend_reasons


def _told(session):
    return models.Event.objects.filter(type="session.waits", session=session).count()


def test_a_headline_is_told_once_while_it_stands(make_cluster):
    cluster = make_cluster()
    cluster.run(cluster.bob, cpu="4")
    session = cluster.submit(cluster.alice, cpu="4")

    for _ in range(3):
        cluster.round()

    assert session.pend_reason.reason in pend_reasons.LACKS_SLOTS
    assert _told(session) == 1
    assert session.pend_reason.round_number == 2


def test_a_new_headline_is_told_with_the_one_before(make_cluster):
    cluster = make_cluster()
    cluster.run(cluster.bob, cpu="4")
    session = cluster.submit(cluster.alice, cpu="4")
    cluster.round()
    models.Session.objects.filter(pk=session.pk).update(is_held=True)

    cluster.round()

    event = models.Event.objects.filter(type="session.waits", session=session).last()
    assert (event.data["reason"], event.data["before"]) == ("held", "no-resources")


def test_the_time_towards_a_claim_runs_while_slots_lack_and_stops_with_the_lack(make_cluster):
    cluster = make_cluster()
    cluster.run(cluster.bob, cpu="4")
    session = cluster.submit(cluster.alice, cpu="4")
    cluster.round()
    session.refresh_from_db()
    since = session.waiting_since
    cluster.round()
    session.refresh_from_db()
    assert session.waiting_since == since is not None
    models.Session.objects.filter(pk=session.pk).update(is_held=True)

    cluster.round()

    session.refresh_from_db()
    assert session.waiting_since is None


def test_a_start_forgets_the_reason(make_cluster):
    cluster = make_cluster()
    other = cluster.run(cluster.bob, cpu="4")
    session = cluster.submit(cluster.alice, cpu="4")
    cluster.round()
    cluster.agent.ends(other)

    cluster.round()

    assert not models.PendReason.objects.filter(session=session).exists()


def test_a_queue_that_leaves_the_group_is_the_reason_of_those_that_wait_in_it(make_cluster):
    cluster = make_cluster()
    session = cluster.submit(cluster.alice, cpu="4")
    cluster.group.queues.remove(session.queue)

    cluster.round()

    assert (session.pend_reason.reason, session.pend_reason.facts) == (
        "unknown-queue",
        {"queue": session.queue.slug},
    )


def test_what_else_stands_in_the_way_is_written_beside_the_headline(make_cluster):
    cluster = make_cluster()
    session = cluster.submit(cluster.alice, cpu="4")
    models.Session.objects.filter(pk=session.pk).update(is_held=True, slots={"cpu": 99_000})

    cluster.round()

    assert (session.pend_reason.reason, session.pend_reason.facts) == ("held", {"also": "never-fits"})


def test_nodes_and_candidates_are_kept_up_to_a_measure_and_headlines_for_all(make_cluster, monkeypatch):
    monkeypatch.setattr(pend_reasons, "MOST_VIEWS", 3)
    cluster = make_cluster(preemption_state="on")
    cluster.run(cluster.bob, cpu="4")
    sessions = [cluster.submit(cluster.alice, cpu="4") for _ in range(4)]

    cluster.round()

    rows = [models.PendReason.objects.get(session=session) for session in sessions]
    assert [(len(row.nodes), len(row.candidates)) for row in rows] == [(1, 1), (1, 0), (0, 0), (0, 0)]
    assert {row.reason for row in rows} == {"no-resources"}
    assert all(row.facts for row in rows)


def test_a_reason_that_stands_is_not_written_again(make_cluster):
    cluster = make_cluster()
    cluster.run(cluster.bob, cpu="4")
    session = cluster.submit(cluster.alice, cpu="4")
    cluster.round()
    before = models.PendReason.objects.get(session=session)

    cluster.round()

    assert models.PendReason.objects.get(session=session).seen_at == before.seen_at
    cluster.join("n2", cpu=1000)
    cluster.round()
    assert len(models.PendReason.objects.get(session=session).nodes) == 2


def test_new_numbers_reach_everybody_within_a_few_rounds_and_headlines_at_once(make_cluster, monkeypatch):
    monkeypatch.setattr(pend_reasons, "MOST_NUMBERS", 2)
    cluster = make_cluster()
    cluster.run(cluster.bob, cpu="1")
    sessions = [cluster.submit(cluster.alice, cpu="4") for _ in range(5)]
    cluster.round()
    assert models.PendReason.objects.count() == 5
    cluster.run(cluster.bob, cpu="1", priority=90)  # two more rounds
    written = []

    for _ in range(3):
        before = dict(models.PendReason.objects.values_list("session_id", "round_number"))
        cluster.round()
        after = dict(models.PendReason.objects.values_list("session_id", "round_number"))
        written.append(sum(after[pk] != before[pk] for pk in after))

    assert written == [2, 1, 0]
    facts = list(models.PendReason.objects.values_list("facts", flat=True))
    assert facts == [facts[0]] * len(sessions)
