"""Lists of sessions as files: which rows, which columns, and no formulas."""

from __future__ import annotations

import csv
import io
import json

import pytest

from scheduler import models
from scheduler.selectors import sessions
from tests import worlds
from xceweb.dashboard import session_files


def batches(world: worlds.World, who: str, **chosen: str) -> list[list[sessions.Row]]:
    """Return what somebody's list holds."""
    return list(sessions.every(world.people[who], sessions.Filters(**chosen)))


def read(parts: list[list[sessions.Row]]) -> list[dict[str, str]]:
    """Return the lines of a CSV by column."""
    return list(csv.DictReader(io.StringIO("".join(session_files.as_csv(parts)))))


def test_a_csv_has_what_the_list_shows(world: worlds.World) -> None:
    """Verdicts are plain, times are in UTC, amounts in the smallest unit."""
    (line,) = read(batches(world, "owner", state="pending"))

    assert (line["id"], line["name"], line["owner"], line["verdict"]) == (
        str(world.waiting.public_id),
        "late-work",
        "olivia",
        "Not enough free",
    )
    assert json.loads(line["slots"]) == {"cuda.device": 8}
    assert line["submitted_at"].endswith("Z")


def test_both_files_hold_the_same(world: worlds.World) -> None:
    """In the order of the list, what is not known as null."""
    found = json.loads("".join(session_files.as_json(batches(world, "owner"))))

    assert [one["name"] for one in found] == ["late-work", "high-work", "low-work"]
    assert [one["id"] for one in found] == [line["id"] for line in read(batches(world, "owner"))]
    assert (found[0]["nodes"], found[1]["nodes"], found[0]["ended_at"]) == ([], ["gpu-1"], None)


def test_a_file_of_nothing_can_be_read() -> None:
    """A line of names; an empty array."""
    assert (read([]), json.loads("".join(session_files.as_json([[]])))) == ([], [])


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@sum", "\t=1"])
def test_no_cell_is_a_formula(world: worlds.World, name: str) -> None:
    """A spreadsheet shows the text."""
    models.Session.objects.filter(pk=world.waiting.pk).update(name=name, job_priority=-3)

    (line,) = read(batches(world, "owner", state="pending"))

    assert (line["name"], line["job_priority"]) == (f"'{name}", "-3")


def test_a_file_hides_what_the_list_hides(world: worlds.World) -> None:
    """Others' rows have state, size, queue and times."""
    line = next(one for one in read(batches(world, "viewer")) if one["state"] == "running")
    hidden = ("name", "owner", "verdict", "priority", "job_priority", "type", "nodes")

    assert [line[column] for column in hidden] == [""] * len(hidden)
    assert (line["queue"], line["preempted_count"]) == ("normal", "0")
