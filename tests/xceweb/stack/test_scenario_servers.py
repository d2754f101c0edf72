import contextlib
import os
import pathlib
import subprocess
import sys

import pytest

from xceweb.stack import embedded, scenario_servers

PICTURE = """- id: A
  nodes: [{id: n1, cap: {cpu: 1}}]
  pending: [{id: p, request: {cpu: 1}}]
  expect: {outcome: place}
"""
STORY = """- id: B
  kind: lifecycle
  nodes: [{id: n1, cap: {cpu: 1}}]
  steps: [{do: submit, id: p, request: {cpu: 1}}, {do: tick}]
  expect: {state: {p: RUNNING}}
"""


@pytest.fixture
def started(monkeypatch):
    """The directories in which servers were started."""
    places = []

    @contextlib.contextmanager
    def running(place, *, throwaway):
        assert throwaway
        assert place.parent.is_dir()
        places.append(place)
        yield {"DATABASE_URL": "postgresql://temporary"}

    monkeypatch.setattr(embedded, "running", running)
    return places


@pytest.mark.parametrize(
    ("arguments", "is_meant"),
    [
        ("scenario f.yaml", True),
        ("scenario --json --case A f.yaml --case=B", True),
        ("scenario -v 2 f.yaml --no-color", True),
        ("scenario", False),
        ("scenario --help", False),
        ("scenario --from-decision 1 f.yaml", False),
        ("scenario f.yaml --case", False),
        ("replay_round f.yaml", False),
        ("", False),
    ],
)
def test_only_the_running_of_a_file_is_meant(arguments, is_meant):
    assert scenario_servers.is_meant(arguments.split()) is is_meant


@pytest.mark.parametrize(
    ("text", "options", "is_started"),
    [
        (PICTURE, [], False),
        (STORY, [], True),
        (PICTURE + STORY, ["--case", "A"], False),
        (PICTURE + STORY, ["--case", "A", "--case", "B"], True),
        ("- {id: C, kind: explain, given: {a: b}}", [], False),
        (STORY.replace("do: tick", "do: tick, sooner: 1") + "  tags: [x]\n", [], False),
        ("{", [], False),
    ],
)
def test_servers_are_started_for_stories_alone(tmp_path, started, text, options, is_started):
    path = tmp_path / "cases.yaml"
    path.write_text(text)
    with scenario_servers.running(["scenario", str(path), *options]) as env:
        assert ("temporary" in env["DATABASE_URL"]) is is_started

    assert [place.exists() for place in started] == [False] * is_started


def test_a_story_is_played_where_no_stack_runs_and_nothing_is_left(tmp_path):
    path, place = tmp_path / "cases.yaml", tmp_path / "data"
    path.write_text(PICTURE + STORY)
    env = {name: value for name, value in os.environ.items() if not name.endswith("_URL")}
    env |= {"XCE_DATA_DIR": str(place), "TMPDIR": str(tmp_path / "temporary")}
    pathlib.Path(env["TMPDIR"]).mkdir()
    done = subprocess.run(
        [sys.executable, "-P", "-m", "xceweb.stack.manage", "scenario", str(path)],
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert "2 passed, 0 failed, 0 skipped" in done.stdout
    assert not place.exists()
    assert list((tmp_path / "temporary").glob("xce-scenario-*")) == []
