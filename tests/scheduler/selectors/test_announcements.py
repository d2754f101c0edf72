"""Which announcements stand."""

from __future__ import annotations

import pytest
from django.utils import timezone

from scheduler import errors, models
from scheduler.selectors import announcements
from tests import model_factories

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("until_s", "is_ended", "stands"),
    [(None, False, True), (60, False, True), (-1, False, False), (60, True, False)],
)
def test_it_stands_until_its_moment_or_its_end(until_s: int | None, is_ended: bool, stands: bool) -> None:
    """Whichever comes first."""
    row = models.Announcement.objects.create(
        text="back soon",
        made_at=timezone.now(),
        until=None if until_s is None else model_factories.ago(-until_s),
        ended_at=timezone.now() if is_ended else None,
    )

    assert (row in announcements.in_force()) == stands
    assert announcements.require(row.pk) == row


def test_one_that_is_not_there_is_not_visible() -> None:
    """As any other thing."""
    with pytest.raises(errors.NotVisible):
        announcements.require(7)
