"""`preemption` from the command line."""

import io

import pytest
from django.core.management import CommandError, call_command

from scheduler import models
from tests import worlds

pytestmark = pytest.mark.django_db


def act(verb, *options, slug="gpu"):
    out = io.StringIO()
    call_command("preemption", verb, slug, *options, stdout=out)
    return out.getvalue()


def test_rules_are_set_for_a_while_shown_and_the_way_back_cancelled():
    group = worlds.a_world().group

    said = act("set", "--state=off", "--rule=grace_period=20", "--reason=a quiet night", "--for=2h")
    shown = act("show")
    cancelled = act("cancel-planned", "--reason=it stays")

    group.refresh_from_db()
    plan = models.PlannedChange.objects.get()
    assert (group.policy.preemption_state, group.policy.grace_period) == ("off", 20)
    assert said.splitlines() == [
        "gpu: version 2 is in force",
        f"gpu: return planned for {plan.at.isoformat()}",
    ]
    assert "grace_period = 20" in shown
    assert 'by command preemption: {"grace_period": 10, "preemption_state": "on"}' in shown
    assert (cancelled, plan.end) == (f"gpu: nothing changes at {plan.at.isoformat()} any more\n", "cancelled")


def test_the_version_in_force_is_undone():
    group = worlds.a_world().group
    act("set", "--rule=grace_period=20", "--reason=a quiet night")

    said = act("undo", "--reason=too slow")

    group.refresh_from_db()
    assert (said, group.policy.grace_period) == ("gpu: version 2 is undone; version 3 is in force\n", 10)


def test_a_time_without_a_zone_is_utc():
    worlds.a_world()

    with pytest.raises(CommandError, match="at: must be in the future"):
        act("set", "--state=off", "--reason=too late", "--at=2020-01-01T22:00")


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        (["--state=off"], "reason: write why"),
        (["--rule=grace_period=soon", "--reason=because"], "grace_period: .*must be an integer"),
        (["--rule=colour=red", "--reason=because"], "'colour' is none of: preemption_state, "),
        (["--state=off", "--reason=because", "--for=ever"], "'ever' is no span"),
        (["--state=off", "--reason=because", "--at=noon"], "'noon' is no time"),
        (["--state=off", "--reason=because", "--expect=7"], "changed the rules of gpu meanwhile"),
    ],
)
def test_what_cannot_be_is_said_and_changes_nothing(options, fault):
    group = worlds.a_world().group

    with pytest.raises(CommandError, match=fault):
        act("set", *options)

    assert group.policy_versions.count() == 1


def test_an_unknown_group_is_named():
    with pytest.raises(CommandError, match="there is no group 'none'"):
        act("show", slug="none")
