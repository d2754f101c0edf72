"""The audit row stands and falls with the change that it tells of (P05)."""

from __future__ import annotations

import os

import pytest
from django.db import DatabaseError, connection

from scheduler import models
from scheduler.services import actors, audit, policies, work
from tests.scheduler.services import crowd

pytestmark = pytest.mark.django_db(transaction=True)
KILLS = 200 if os.environ.get("XCE_NIGHT") else 4


def test_p05_a_backend_that_dies_around_the_audit_leaves_both_or_none(
    make_cluster, monkeypatch, record_property
):
    cluster = make_cluster()
    monkeypatch.setattr(work.bells, "ring", lambda **what: None)
    record = audit.record_change

    def die():
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")

    def die_before(*args, **more):
        die()

    def die_after(*args, **more):
        record(*args, **more)
        die()

    for turn in range(KILLS):
        monkeypatch.setattr(audit, "record_change", (die_before, die_after, record)[turn % 3])
        crowd.together(lambda turn=turn: _change(cluster, turn))
        made = models.PolicyVersion.objects.filter(group=cluster.group).count() - 1
        told = models.ConfigChange.objects.filter(object_type="resource group policy").count()
        events = models.Event.objects.filter(type="group.policy_changed").count()
        assert (made, told, events) == ((turn + 1) // 3,) * 3

    record_property("tries", KILLS)
    record_property("faults", KILLS - KILLS // 3)


def _change(cluster, turn):
    group = models.ResourceGroup.objects.select_related("policy").get(pk=cluster.group.pk)
    changes = {"grace_period": group.policy.grace_period + 1}
    actor, version = actors.of_user(cluster.admin), group.policy.version
    try:
        policies.change_policy(actor, group, changes=changes, reason="because", expected_version=version)
    except DatabaseError:
        assert turn % 3 < 2
    else:
        assert turn % 3 == 2
