"""Everybody who locks keeps the one order (DESIGN 4), seen in the statements of a story that passes all who write."""

from __future__ import annotations

import re

import pytest
from django.db import connection, transaction

from scheduler.services import actors, control, emergency, nodes, policies, queues, reconcile
from tests.scheduler.services import staging

pytestmark = pytest.mark.django_db(transaction=True)
ORDER = (
    "resourcegroup",
    "ownerusage",
    "queueusage",
    "nodeslot",
    "session",
    "grouprounds",
    "eventcounter",
)
_LOCK = re.compile(r'FROM "?scheduler_(\w+?)"? .*FOR (?:NO KEY UPDATE|UPDATE|SHARE)', re.S)
#: Those that are taken last are taken by the statement that changes them.
_UPDATE = re.compile(r'UPDATE "?scheduler_(grouprounds|eventcounter)\b')


class Watch:
    """Notes, for each transaction, which tables were locked first, in their order."""

    def __init__(self) -> None:
        self.transactions: list[list[str]] = []
        self._outermost: object = None

    def __call__(self, execute, sql, params, many, context):
        found = _LOCK.search(sql) or _UPDATE.match(sql.lstrip())
        if found and found[1] in ORDER and connection.atomic_blocks:
            if connection.atomic_blocks[0] is not self._outermost:
                self._outermost = connection.atomic_blocks[0]
                self.transactions.append([])
            if found[1] not in self.transactions[-1]:
                self.transactions[-1].append(found[1])
        return execute(sql, params, many, context)

    def faults(self) -> list[list[str]]:
        """Return the transactions that took a lock after one that comes later in the order."""
        return [one for one in self.transactions if one != sorted(one, key=ORDER.index)]


def _live(cluster):
    """Pass everybody who writes: people, rounds, agents, rules, the reconciler."""
    alice, admin = actors.of_user(cluster.alice), actors.of_user(cluster.admin)
    low, high = cluster.contest()
    cluster.agent.suspends(low)
    cluster.round()
    cluster.agent.starts(high)
    control.change_session(alice, high, job_priority=30)
    cluster.agent.ends(high)
    cluster.round()
    cluster.agent.resumes(low)
    control.requeue_session(alice, low)
    reconcile.run()
    cluster.agent.ends(low, None, by=staging.messages.StopCommand, signal=9)
    cluster.round()
    cluster.agent.starts(low)
    cluster.submit(cluster.alice, cpu="4", job_priority=40)
    cluster.round()
    emergency.withdraw_all(admin, cluster.group, reason="a test")
    cluster.agent.withdraws(low)
    queues.change_queue(admin, cluster.queues["background"], changes={"preemptible": False}, reason="a test")
    policies.change_policy(
        admin, cluster.group, changes={"preemption_state": "off"}, reason="a test", expected_version=1
    )
    nodes.set_node_state(admin, cluster.node, state="draining", reason="a test")
    control.cancel_session(alice, low)
    cluster.agent.hello()
    reconcile.run()


def test_p03_everybody_locks_in_the_one_order(make_cluster):
    cluster, watch = make_cluster(**staging.RULES), Watch()

    with connection.execute_wrapper(watch):
        _live(cluster)

    assert watch.faults() == []
    assert {name for one in watch.transactions for name in one} == set(ORDER)
    assert len(watch.transactions) > 25


def test_the_watch_finds_a_planted_fault(make_cluster):
    cluster, watch = make_cluster(), Watch()
    session = cluster.run(cluster.alice)

    with connection.execute_wrapper(watch), transaction.atomic():
        list(type(session).objects.select_for_update().filter(pk=session.pk))
        list(cluster.node.slots.select_for_update())

    assert watch.faults() == [["session", "nodeslot"]]
