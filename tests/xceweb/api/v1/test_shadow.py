"""The shadow report by API."""

from __future__ import annotations

from scheduler.selectors import shadow_reports
from tests import decision_factories, model_factories
from tests.xceweb.api import clients
from xceweb.api.v1 import rule_shapes

PATH = "/resource-groups/gpu/preemption/shadow-report"


def test_a_report_tells_counts_and_what_it_cannot_say(api_of, world):
    model_factories.a_policy_version(world.group, preemption_state="shadow")
    fills = {"owner": world.people["owner"], "queue": world.queues["normal"], "group": world.group}
    low = model_factories.a_session(state="running", job_priority=1, **fills)
    decision_factories.a_preemption(world.waiting, [low], node=world.node, kind="shadow")

    found = api_of("operator").get(PATH)

    clients.assert_like(rule_shapes.ShadowReport, found.json())
    assert (found.json()["stopped"], found.json()["helped"], found.json()["until"]) == (1, 1, None)
    assert found.json()["note"] == shadow_reports.HONESTY


def test_a_group_that_never_was_in_shadow_has_none(api_of):
    assert api_of("operator").get(PATH).status_code == 404
    assert api_of("submitter").get(PATH).status_code == 403
