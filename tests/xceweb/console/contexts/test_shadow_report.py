"""The shadow report in words."""

from __future__ import annotations

import datetime

import pytest

from scheduler import clock, models
from scheduler.selectors import shadow_reports
from tests import decision_factories, model_factories, worlds
from xceweb.console.contexts import shadow_report


def test_a_time_in_shadow_is_one_sentence_with_its_honesty(world: worlds.World) -> None:
    """And a table of owners."""
    model_factories.a_policy_version(world.group, preemption_state="shadow")
    fields = {"owner": world.people["owner"], "queue": world.queues["normal"], "group": world.group}
    low = model_factories.a_session(state="running", job_priority=1, **fields)
    for _ in range(2):
        decision_factories.a_preemption(world.waiting, [low], node=world.node, kind="shadow")

    found = shadow_report.load(world.people["operator"], world.group)

    assert found is not None
    assert found["sentence"].startswith(
        "On would have stopped **1 session** of **1** person for **1 session**, which has"
    )
    assert found["sentence"].endswith(" since, **1** of them until now.")
    assert [one["times"] for one in found["repeats"]] == [2]
    assert found["note"].startswith(shadow_reports.HONESTY)
    assert "They came up 2 times in 2 different decisions." in found["note"]
    assert [row["owner"] for row in found["owners"]] == ["olivia"]


def test_a_quiet_time_says_nobody(world: worlds.World) -> None:
    """Without figures."""
    model_factories.a_policy_version(world.group, preemption_state="shadow")

    found = shadow_report.load(world.people["operator"], world.group)

    assert found is not None
    assert (found["sentence"], found["figures"]) == ("So far it would have stopped **nobody**.", [])


@pytest.mark.parametrize(
    ("person", "days", "is_told"), [("operator", 0, True), ("operator", 8, False), ("viewer", 0, False)]
)
def test_an_old_report_and_one_for_strangers_is_not_shown(
    world: worlds.World, monkeypatch: pytest.MonkeyPatch, person: str, days: int, is_told: bool
) -> None:
    """A week after it has ended it is history."""
    model_factories.a_policy_version(world.group, preemption_state="shadow")
    model_factories.a_policy_version(world.group, preemption_state="on")
    later = clock.now() + datetime.timedelta(days=days)
    monkeypatch.setattr(shadow_report.clock, "now", lambda: later)

    assert (shadow_report.load(world.people[person], world.group) is not None) == is_told
    assert models.PolicyVersion.objects.filter(preemption_state="shadow").exists()
