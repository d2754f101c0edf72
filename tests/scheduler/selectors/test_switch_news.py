"""What a person should know of switches that were turned, or will be."""

from __future__ import annotations

import datetime

import pytest

from scheduler import clock, models
from scheduler.selectors import switch_news
from scheduler.services import actors, planned_changes, policies
from tests import model_factories


def _news(world, person="owner"):
    return [
        (one.group, one.before, one.state, one.is_planned)
        for one in switch_news.for_owner(world.people[person])
    ]


def _turn(world, state, **rules):
    model_factories.a_policy_version(
        world.group, by=world.people["manager"], reason="tests", preemption_state=state, **rules
    )


def test_the_last_turn_of_the_switch_is_news_for_who_has_sessions_there(world):
    _turn(world, "shadow")
    _turn(world, "on")
    _turn(world, "on", grace_period=11)

    assert _news(world) == [("gpu", "shadow", "on", False)]
    (one,) = switch_news.for_owner(world.people["owner"])
    assert (one.by, one.reason, one.running, one.waiting, one.mode) == ("manager", "tests", 1, 1, "suspend")


def test_it_is_no_news_for_others_and_in_groups_that_were_never_turned(world):
    assert _news(world) == []

    _turn(world, "off")

    assert [_news(world, person) for person in ("viewer", "manager", "outsider")] == [[], [], []]


def test_sessions_that_opted_out_are_not_counted(world):
    _turn(world, "off")
    models.Session.objects.filter(pk=world.running.pk).update(is_preemptible=False)
    assert switch_news.for_owner(world.people["owner"])[0].running == 0


def test_who_has_only_sessions_that_ended_is_told_nothing(world):
    _turn(world, "off")
    model_factories.a_session(
        owner=world.people["submitter"], queue=world.queues["normal"], group=world.group, state="terminated"
    )

    assert _news(world, "submitter") == []


def test_after_a_day_it_is_old(world, monkeypatch):
    _turn(world, "off")
    later = clock.now() + datetime.timedelta(days=1, minutes=1)

    monkeypatch.setattr(switch_news.clock, "now", lambda: later)

    assert _news(world) == []


@pytest.mark.parametrize(("changes", "news"), [({"preemption_state": "off"}, 1), ({"grace_period": 33}, 0)])
def test_a_planned_turn_is_news_before_it_comes(world, changes, news):
    when = planned_changes.When(at=clock.now() + datetime.timedelta(hours=1))
    wish = policies.Wish(changes, "for the night", None)
    planned_changes.change(actors.of_user(world.people["manager"]), world.group, wish, when)

    assert _news(world) == [("gpu", "on", "off", True)] * news
