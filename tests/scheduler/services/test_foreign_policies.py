"""A queue's foreign policy in real rounds: refused at saving, seen when it fails, gone when it is put right."""

from __future__ import annotations

import pytest

from scheduler import errors, models
from scheduler.plugins import pool
from scheduler.selectors import queues as queue_rows
from scheduler.services import actors, queues, rounds
from tests import plugin_packages

BAD = "def choose(problem):\n    raise LookupError('secret')"


@pytest.fixture
def site(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    pool.SHARED.close()


def _contest(make_cluster, site):
    """Return a cluster whose urgent session can only be placed by the policy `odd`."""
    cluster = make_cluster(preemption_state="on")
    plugin_packages.install(site, "odd_one", {"odd": "choose"}, code=BAD)
    admin = actors.of_user(cluster.admin)
    queues.change_queue(admin, cluster.queues["urgent"], changes={"preempt_policy": "odd"}, reason="try it")
    cluster.run(cluster.bob, queue="background", cpu="4")
    waiting = cluster.submit(cluster.alice, queue="urgent", cpu="4", priority=50)
    return cluster, waiting


def _error(cluster):
    return next(row for row in queue_rows.rows(cluster.admin) if row.name == "urgent").policy_error


def test_p11_a_policy_that_fails_is_told_once_and_stops_nobody(make_cluster, site):
    cluster, waiting = _contest(make_cluster, site)
    rounds.run_group_round(cluster.group.pk)
    rounds.run_group_round(cluster.group.pk)

    event = models.Event.objects.get(type="queue.policy_failed")
    assert models.PendReason.objects.get(session=waiting).reason == "policy-failed"
    assert _error(cluster) == "the preemption policy odd failed: LookupError"
    assert event.data == {"queue": "urgent", "policy": _error(cluster)}
    assert not models.Victim.objects.exists()


def test_p11_a_policy_that_vanished_is_seen_before_any_round(make_cluster, site):
    cluster, _ = _contest(make_cluster, site)
    plugin_packages.uninstall(site, "odd_one")

    assert _error(cluster) == "odd is not installed: this queue preempts nobody"


def test_a_policy_that_is_not_installed_is_refused_with_those_that_are(make_cluster, site):
    cluster, _ = _contest(make_cluster, site)

    with pytest.raises(errors.Refusal, match="there are: lowest_priority_first, odd"):
        queues.change_queue(
            actors.of_user(cluster.admin),
            cluster.queues["urgent"],
            changes={"preempt_policy": "odder"},
            reason="try another",
        )
