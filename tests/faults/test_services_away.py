"""
A broker that is away and comes back empty loses nothing (P14); many beats and workers run one round a moment (P15).

Whole stacks, at night: in CI the same is tried with one process each.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import time
import urllib.request

import psycopg
import pytest

from tests.faults import cluster as clusters
from tests.history import lines
from tests.scheduler.agent import controller
from tests.system import stack as stacks
from xceweb.stack import privileges

AWAY_S = float(os.environ.get("XCE_AWAY_S", "60"))
ROUND_WITHIN_S = 35
BEATS_S = 30
pytestmark = [pytest.mark.system, pytest.mark.night, pytest.mark.timeout(900)]
_BEAT = ("beat", "--scheduler", "celery.beat:Scheduler", "--pidfile", "", "--loglevel", "WARNING")
_WORKER = ("worker", "--queues", "rounds,controller,celery", "--concurrency", "3", "--loglevel", "WARNING")
_LOG = """
    CREATE TABLE due_log (group_id bigint, due bigint, number bigint);
    CREATE FUNCTION note_due() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO due_log VALUES (NEW.group_id, NEW.last_due, NEW.last_number); RETURN NEW; END $$;
    CREATE TRIGGER note_due AFTER UPDATE ON scheduler_grouprounds FOR EACH ROW
        WHEN (NEW.last_due <> OLD.last_due) EXECUTE FUNCTION note_due();
"""


@pytest.fixture
def root(tmp_path):
    tmp_path.chmod(0o755)
    return tmp_path


def _answers(url: str) -> bool:
    with urllib.request.urlopen(url, timeout=30) as answer:
        return answer.status == 200


def _rounds(database) -> tuple[int, int]:
    """Return how many rounds there were, and how many were asked for."""
    return database.execute(
        "SELECT sum(last_number)::int, sum(asked)::int FROM scheduler_grouprounds"
    ).fetchone()


def test_p14_a_broker_that_is_stopped_and_wiped_under_load_loses_nothing(root, record_property):
    place = root / "broker"
    broker = controller.Broker(place)
    broker.up()
    with clusters.running(root, environ={"BROKER_URL": broker.url}) as cluster:
        cluster.client("submit", name="before", cpu="1", rank=1, argv=cluster.argv(1))
        assert cluster.wait(lambda: cluster.has("running", "terminated", name="before"), deadline_s=60)

        broker.down()
        end, pages = time.monotonic() + AWAY_S, 0
        while time.monotonic() < end:
            name = f"away-{len(cluster.client.calls)}"
            assert cluster.client("submit", name=name, cpu="1", rank=1, argv=cluster.argv(0.1)) == lines.OK
            assert _answers(f"{cluster.stack.base_url}/readyz")
            assert _answers(f"{cluster.stack.base_url}/accounts/login/")
            pages += 2
            threading.Event().wait(1)
        shutil.rmtree(place)
        with psycopg.connect(cluster.stack.env["DATABASE_URL"], autocommit=True) as database:
            before, asked = _rounds(database)
            broker.up()
            back = time.monotonic()
            stacks.until(lambda: _rounds(database)[0] > before, what="a round", deadline_s=ROUND_WITHIN_S)
            threading.Event().wait(5)
            moments = (time.monotonic() - back) / clusters.SCALE
            after, asked_after = _rounds(database)
        assert after - before <= 2 * (moments + 2) + asked_after - asked, "a burst of rounds"

        assert cluster.wait(lambda: set(cluster.states().values()) == {"terminated"}, deadline_s=180)
        findings = cluster.heal()
    broker.down()
    record_property("tries", len(cluster.client.calls) + pages)
    record_property("faults", 2)
    record_property("findings", len(findings))
    assert findings == []


def test_p15_three_beats_and_two_workers_run_one_round_for_each_group_and_moment(root, record_property):
    scale = {"XCE_TIME_SCALE": "0.05"}
    with clusters.running(root, environ=scale) as cluster:
        more = [
            _start(cluster, *one, scale=scale)
            for one in (_BEAT, _BEAT, (*_WORKER, "--hostname", "second@xce"))
        ]
        try:
            with psycopg.connect(cluster.stack.env["DATABASE_URL"], autocommit=True) as database:
                database.execute(_LOG)
                threading.Event().wait(BEATS_S)
                rows = database.execute("SELECT group_id, due, number FROM due_log").fetchall()
        finally:
            for process in more:
                process.kill()
                process.wait()
        findings = cluster.findings()
    record_property("tries", len(rows))
    record_property("findings", len(findings))
    assert len(rows) > BEATS_S
    assert len({(group, due) for group, due, _ in rows}) == len(rows)
    assert len({(group, number) for group, _, number in rows}) == len(rows)
    assert findings == []


def _start(cluster: clusters.Cluster, *arguments: str, scale: dict[str, str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "celery", "-A", "xceweb.celery:app", *arguments],
        env=clusters.environment(cluster.stack, cluster.place) | scale,
        cwd=privileges.PROJECT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
