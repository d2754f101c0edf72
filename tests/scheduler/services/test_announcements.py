"""Announcements through their service: shown while they stand, audited once each, by administrators alone."""

from __future__ import annotations

import datetime

import pytest
from django.utils import timezone

from scheduler import errors, models
from scheduler.selectors import announcements as shown
from scheduler.services import actors, announcements
from tests import model_factories

pytestmark = pytest.mark.django_db
HOUR = datetime.timedelta(hours=1)


@pytest.fixture
def admin() -> actors.Actor:
    """An administrator."""
    return actors.of_user(model_factories.an_administrator("root"), request_id="request-1")


def test_it_stands_until_its_time_or_its_end(admin: actors.Actor) -> None:
    """Newest first; what is over is kept."""
    brief = announcements.make(admin, " back at noon ", lasts=HOUR)
    long = announcements.make(admin, "welcome", tone="warning")
    assert [(row.text, row.tone) for row in shown.in_force()] == [
        ("welcome", "warning"),
        ("back at noon", "info"),
    ]

    announcements.end(admin, long, reason="all know")
    models.Announcement.objects.filter(pk=brief.pk).update(until=timezone.now() - HOUR)

    assert list(shown.in_force()) == []
    assert models.Announcement.objects.count() == 2


def test_each_change_is_audited_once(admin: actors.Actor) -> None:
    """With actor, request, and what changed."""
    row = announcements.make(admin, "welcome")
    announcements.end(admin, row, reason="all know")

    ended, made = models.ConfigChange.objects.filter(object_type="announcement", object_name=str(row.pk))
    assert {(each.actor_name, each.request_id) for each in (made, ended)} == {("root", "request-1")}
    assert (made.before, made.after) == ({}, {"text": "welcome", "tone": "info", "until": None})
    assert (ended.before, list(ended.after), ended.reason) == ({"ended_at": None}, ["ended_at"], "all know")


@pytest.mark.parametrize(
    ("text", "tone"), [("", "info"), ("   ", "info"), ("x" * 501, "info"), ("x", "loud")]
)
def test_what_cannot_be_shown_is_refused_and_leaves_nothing(
    admin: actors.Actor, text: str, tone: str
) -> None:
    """Neither a row nor an audit of one."""
    with pytest.raises(errors.Refusal):
        announcements.make(admin, text, tone=tone)

    assert (models.Announcement.objects.count(), models.ConfigChange.objects.count()) == (0, 0)


def test_more_than_a_few_are_refused_and_none_ends_twice(admin: actors.Actor) -> None:
    """Each says what to do."""
    rows = [announcements.make(admin, f"number {number}") for number in range(announcements.MOST_IN_FORCE)]
    with pytest.raises(errors.Refusal, match="3 announcements stand already"):
        announcements.make(admin, "one more")

    announcements.end(admin, rows[0])
    with pytest.raises(errors.Refusal, match="ended already"):
        announcements.end(admin, rows[0])
    announcements.make(admin, "one more")


def test_nobody_else_announces_or_ends(admin: actors.Actor) -> None:
    """A manager of every group neither."""
    row, other = announcements.make(admin, "welcome"), actors.of_user(model_factories.a_user())

    with pytest.raises(errors.NotAllowed):
        announcements.make(other, "I am root")
    with pytest.raises(errors.NotAllowed):
        announcements.end(other, row)

    assert shown.require(row.pk).ended_at is None
