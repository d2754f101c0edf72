"""One action on many sessions: each its own outcome."""

from __future__ import annotations

import pytest

from scheduler import errors, models
from scheduler.services import actors, many
from tests import model_factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def rows() -> list[models.Session]:
    """One that is over and two that wait; the last is somebody else's."""
    group = model_factories.a_group("gpu")
    queue = model_factories.a_queue("normal", groups=[group])
    owner, other = (model_factories.a_user(name, role="submitter", group=group) for name in ("ann", "bob"))
    shared = {"queue": queue, "group": group}
    return [
        model_factories.a_session(owner=owner, state="terminated", **shared),
        model_factories.a_session(owner=owner, **shared),
        model_factories.a_session(owner=other, **shared),
    ]


def test_what_is_refused_of_one_stops_no_other(rows: list[models.Session]) -> None:
    """The outcomes come in the order that was asked for, with the reason of each refusal."""
    asked = [rows[0], rows[2], rows[1]]

    found = many.act(actors.of_user(rows[0].owner), asked, "hold")

    assert [outcome.session for outcome in found] == asked
    assert [outcome.refusal.partition(".")[0] for outcome in found] == [
        "A session that is terminated cannot be held",
        "You may not hold somebody else's session",
        "",
    ]
    assert list(models.Session.objects.filter(is_held=True)) == [rows[1]]


def test_a_reason_stands_with_each_session(rows: list[models.Session]) -> None:
    """In the event that tells of it."""
    many.act(actors.of_user(rows[1].owner), rows[1:2], "cancel", reason="wrong data")

    event = models.Event.objects.filter(session=rows[1]).latest("pk")
    assert "wrong data" in str(event.data)


def test_too_many_are_refused_before_anything_is_done(
    rows: list[models.Session], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even the first."""
    monkeypatch.setattr(many, "MOST", 1)

    with pytest.raises(errors.Refusal, match="at most 1"):
        many.act(actors.of_user(rows[1].owner), rows[1:], "hold")

    assert not models.Session.objects.filter(is_held=True).exists()
