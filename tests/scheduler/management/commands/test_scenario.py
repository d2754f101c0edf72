"""`scenario` from the command line."""

from __future__ import annotations

import io
import json
import pathlib

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from scheduler import models
from scheduler.scenarios import written
from scheduler.simulator import throwaway, world

DATA = pathlib.Path(__file__).parents[3] / "data" / "cases"
SELECT = str(DATA / "select.yaml")
WRONG = """
- id: A
  nodes: [{id: n1, cap: {cpu: 1}}]
  pending: [{id: p, request: {cpu: 1}}]
  expect: {outcome: pend}
- id: B
  nodes: [{id: n1, cap: {cpu: 1}}]
  pending: [{id: p, request: {cpu: 1}}]
  expect: {outcome: place, target: n1}
"""


def scenario(*arguments: str) -> tuple[str, int]:
    """Run the command; return what it said and its exit code."""
    out = io.StringIO()
    try:
        call_command("scenario", *arguments, stdout=out)
    except CommandError as error:
        return out.getvalue(), error.returncode
    return out.getvalue(), 0


@pytest.fixture
def wrong(tmp_path):
    """A file whose first case expects what does not happen."""
    path = tmp_path / "cases.yaml"
    path.write_text(WRONG)
    return str(path)


def test_pictures_need_no_database_and_what_is_skipped_is_no_difference():
    said, code = scenario(SELECT)

    assert code == 0
    assert "S02  passed\n    p: preempt stops w1 on n1 by lowest-first (awaiting-victims)" in said
    assert "23 passed, 0 failed, 4 skipped" in said


def test_one_json_object_is_printed_alone():
    said, code = scenario(SELECT, "--json", "--case", "S02", "--case", "S08")
    first, second = json.loads(said)["cases"]

    answer = {"outcome": "preempt", "victims": ["w1"], "target": "n1"}
    answer |= {"rule": "lowest-first", "reason": "awaiting-victims"}
    assert code == 0
    assert first == {"id": "S02", "result": "passed", "why": "", "pending": {"p": answer}}
    assert (second["result"], second["pending"]) == ("skipped", {})
    assert "tags" in second["why"]


def test_a_difference_is_named_and_exits_non_zero(wrong):
    said, code = scenario(wrong)

    assert code == 1
    assert "A  failed: p: outcome is place, expected pend" in said
    assert "B  passed" in said


def test_a_difference_exits_non_zero_with_json_too(wrong):
    said, code = scenario(wrong, "--json")

    assert code == 1
    assert [case["result"] for case in json.loads(said)["cases"]] == ["failed", "passed"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing.yaml"], "missing.yaml cannot be read"),
        ([SELECT, "--case", "Z1"], "has no case Z1; it has: S02, S04"),
    ],
)
def test_what_cannot_be_run_says_so(arguments, message):
    with pytest.raises(CommandError, match=message) as error:
        call_command("scenario", *arguments)

    assert error.value.returncode == 2


@pytest.mark.django_db(transaction=True)
def test_a_story_runs_in_a_database_of_its_own_that_is_gone_afterwards(monkeypatch):
    monkeypatch.setattr(throwaway, "PREFIX", "xce_simulated_by_the_command_")
    own = connection.settings_dict["NAME"]
    said, code = scenario(str(DATA / "lifecycle.yaml"), "--case", "L12", "--case", "D22")

    assert code == 0, said
    assert "2 passed" in said
    assert connection.settings_dict["NAME"] == own
    assert not models.Session.objects.exists()
    with connection.cursor() as cursor:
        cursor.execute("SELECT datname FROM pg_database WHERE starts_with(datname, %s)", [throwaway.PREFIX])
        assert cursor.fetchall() == []


@pytest.fixture
def decision(db):
    """A stored decision."""
    with world.World({"preemption_state": "on"}).running() as cluster:
        cluster.add_queue("q1")
        cluster.add_node("secret", {"cpu": 4000})
        cluster.obey()
        for rank in (1, 9):
            cluster.submit(cluster.owner("u1"), name="s", amounts={"cpu": 4000}, job_priority=rank)
            cluster.tick()
    return str(models.Decision.objects.get().public_id)


def test_a_stored_decision_is_written_and_runs_again(decision, tmp_path):
    path = str(tmp_path / "case.yaml")

    assert scenario("--from-decision", decision, path) == ("", 0)
    said, code = scenario(path, "--json")
    (case,) = json.loads(said)["cases"]
    assert (code, case["result"], case["pending"]["s2"]["victims"]) == (0, "passed", ["s1"])
    assert scenario("--from-decision", decision)[0] == pathlib.Path(path).read_text()


def test_a_file_that_is_there_already_is_kept(decision, wrong):
    said, code = scenario("--from-decision", decision, wrong)

    assert (said, code) == ("", 2)
    assert pathlib.Path(wrong).read_text() == WRONG


@pytest.mark.parametrize(
    ("arguments", "message"),
    [([], "name a file of cases, or a decision"), (["--from-decision", "x"], "'x' is no id of a decision")],
)
def test_without_a_file_or_a_decision_it_says_what_to_name(db, arguments, message):
    with pytest.raises(CommandError, match=message):
        call_command("scenario", *arguments)


def test_a_decision_that_this_core_makes_otherwise_is_written_with_a_warning(decision, monkeypatch):
    monkeypatch.setattr(written.neutral_names, "names_of", lambda names, ids: [])

    said, code = scenario("--from-decision", decision)
    assert code == 1
    assert said.startswith("# One decision")
