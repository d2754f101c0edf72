"""What a switch gains and costs, in words."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from scheduler import models
from scheduler.selectors import exposures, preview, slot_kinds
from tests import model_factories
from xceweb.console.contexts import preview_costs

pytestmark = pytest.mark.django_db
NOBODY = exposures.Exposures([], 0, {}, [])


def a_victim(number: int = 1, *, owner: int = 1, queue: str = "q", **more: Any) -> preview.PreviewVictim:
    """Return a session of two GPUs that has run for an hour and would be requeued."""
    person = models.User(pk=owner, username=f"user-{owner:02}")
    session = models.Session(pk=number, owner=person, queue=models.Queue(slug=queue), name=f"s-{number}")
    values = {"axis": "owner", "own_value": 1, "preemptor_value": 2, "node": "n", "action": "kill"}
    values |= {"slots": {"cuda.device": 2}, "ran_s": 3600, "mode": "reschedule", "stays_away": ""}
    values |= {"lost": {"cuda.device": 7200, "cpu": 4_000 * 3600}}
    return preview.PreviewVictim(session=session, preemptor=models.Session(pk=99), **{**values, **more})


def a_start(saved_s: int | None, *, owner: int = 7) -> preview.PreviewStart:
    """Return a session that would start in ten seconds."""
    session = models.Session(pk=99, owner=models.User(pk=owner))
    return preview.PreviewStart(session, "n", waited_s=1800, grace_s=10, saved_s=saved_s)


def a_preview(victims: list[preview.PreviewVictim], starts: list[preview.PreviewStart]) -> preview.Preview:
    """Return a preview of them."""
    return preview.Preview(1, model_factories.ago(0), victims, starts, NOBODY)


def figures(*parts: Any) -> list[tuple[str, str]]:
    """Return value and label of each key figure."""
    return [
        (one["value"], one["label"]) for one in preview_costs.figures(a_preview(*parts), slot_kinds.load())
    ]


def test_the_key_figures_have_waiting_saved_and_slot_seconds_lost() -> None:
    """In the kind that counts most: devices where there are any."""
    assert figures([a_victim(1), a_victim(2)], [a_start(4080)]) == [
        ("2", "sessions would stop"),
        ("1", "session would start"),
        ("1 h 8 min", "of waiting saved, by time limits"),
        ("14,400", "GPU-seconds of work lost, 4.0 GPU-hours"),
    ]


def test_what_nobody_knows_is_not_counted_as_saved() -> None:
    """All unknown: not a number; some: said."""
    unknown, known = a_start(None), a_start(60)

    assert figures([], [unknown])[2][0] == "not known"
    assert figures([], [unknown, known])[2] == (
        "1 min",
        "of waiting saved, by time limits; of 1 start it is not known",
    )
    assert preview_costs.gain(unknown) == {
        "gain": "starts in 10 s",
        "waited": "has waited 30 min; otherwise not known when",
    }
    assert preview_costs.gain(known)["gain"] == "1 min sooner"


def test_work_without_devices_is_counted_in_cores() -> None:
    """And a suspend loses nothing."""
    assert preview_costs.lost({"cpu": 4_000 * 60}, slot_kinds.load()) == "240 core-s"
    assert preview_costs.lost({}, slot_kinds.load()) == ""
    assert figures([a_victim(lost={})], [])[3] == ("0", "slot-seconds of work lost")


@pytest.mark.parametrize(("owners", "title", "rows"), [(3, "Owner", 3), (11, "Queue", 2)])
def test_many_victims_are_grouped_by_owner_and_many_owners_by_queue(
    owners: int, title: str, rows: int
) -> None:
    """Each group with its sum."""
    victims = [a_victim(n, owner=n % owners, queue=f"q-{n % 2}") for n in range(1, 23)]

    found = preview_costs.grouped(a_preview(victims, []), slot_kinds.load())

    assert (found["title"], len(found["rows"])) == (title, rows)
    assert sum(row["count"] for row in found["rows"]) == 22
    assert found["rows"][0]["lost"].endswith(" GPU-s")
    assert found["rows"][0]["for"] == "1 session"


def test_who_stays_away_is_listed_by_reason_without_names_of_the_unseen() -> None:
    """Five of them at most."""
    victims = [a_victim(n, stays_away="it ends and is not requeued") for n in range(7)]

    (row,) = preview_costs.away(a_preview([*victims, a_victim(9)], []), {})

    assert (row["reason"], row["count"], row["more"]) == ("it ends and is not requeued", 7, 2)
    assert row["shown"][0]["label"] == "Another session"


def test_each_owner_has_risks_losses_and_gains() -> None:
    """Whose sessions start is a gain, also for who loses some."""
    bob = models.User(pk=1, username="bob")
    risks = dataclasses.replace(NOBODY, untouched=2, untouched_slots={"cpu": 1000})
    risks = dataclasses.replace(risks, owners=[exposures.OfOwner(bob, 1, 2, 1, 3)])
    found = dataclasses.replace(a_preview([a_victim()], [a_start(5, owner=1)]), exposures=risks)

    shown = preview_costs.exposed(found, slot_kinds.load())

    (row,) = shown["exposure"]
    assert (row["owner"], row["stop"], row["could"], row["by_others"], row["safe"]) == ("bob", 1, 2, 1, 3)
    assert (row["lost"], row["gains"]) == ("7,200 GPU-s", "1 start")
    assert shown["untouched"]["count"] == 2
