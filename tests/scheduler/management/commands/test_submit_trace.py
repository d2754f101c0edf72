"""`submit_trace` from the command line."""

import io
import json
import pathlib

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from scheduler import models
from tests import model_factories

pytestmark = pytest.mark.django_db
DATA = pathlib.Path(__file__).parents[3] / "data" / "traces"
PODS = str(DATA / "pods.csv")


@pytest.fixture(autouse=True)
def administrator(settings, tmp_path):
    """Make somebody who owns the sessions, and a data directory."""
    settings.DATA_DIR = tmp_path
    return model_factories.an_administrator("root")


@pytest.fixture
def group():
    """Make the group `trace`, whose agents have reported."""
    submit("--make-group", "--nodes", "2")
    for node in models.Node.objects.all():
        models.AgentStatus.objects.create(node=node, hello_at=timezone.now())


def submit(*arguments):
    out = io.StringIO()
    call_command("submit_trace", *arguments, stdout=out)
    return out.getvalue()


def test_a_group_is_made_with_agent_keys_and_says_how_to_start_them(tmp_path):
    said = submit("--make-group", "--nodes", "2", "--preemption", "on")
    key = json.loads((tmp_path / "agents" / "trace-2" / "key.json").read_text())

    assert key["node"] == "trace-2"
    assert "python -m scheduler.agent --node trace-1" in said
    assert models.ResourceGroup.objects.get(slug="trace").policy.preemption_state == "on"


def test_making_it_twice_makes_no_second_key(group):
    submit("--make-group", "--nodes", "2")

    assert models.AgentKey.objects.count() == 2


def test_pods_are_submitted_each_to_the_queue_of_its_class(group, administrator):
    said = submit(PODS, "--last", "20", "--speed", "100000", "--min-life", "1")
    queues = set(models.Session.objects.values_list("queue__slug", flat=True))

    assert said.endswith("20/20 submitted\n")
    assert models.Session.objects.filter(owner=administrator, group__slug="trace").count() == 20
    assert queues <= {"trace-urgent", "trace-normal", "trace-background"}
    assert len(queues) > 1


def test_swf_is_submitted_to_the_queue_that_is_named(group):
    submit(str(DATA / "small.swf"), "--speed", "100000", "--queue", "0=trace-urgent")
    queues = models.Session.objects.values_list("queue__slug", flat=True)

    assert set(queues) == {"trace-urgent", "trace-normal"}
    assert models.Session.objects.filter(node_count=2).count() == 1


def test_a_malformed_line_stops_it_before_anything_is_submitted(group, tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text(pathlib.Path(PODS).read_text() + "pod-x,1,2\n")

    with pytest.raises(CommandError, match=r"bad\.csv:38: 3 columns instead of 11"):
        submit(str(path))
    assert not models.Session.objects.exists()


def test_a_name_too_long_for_a_session_is_named_with_its_line_and_nothing_is_submitted(group, tmp_path):
    path = tmp_path / "long.csv"
    header, first, second, *_ = pathlib.Path(PODS).read_text().splitlines()
    path.write_text("\n".join([header, first, "p" * 101 + second.removeprefix("pod-01")]))

    with pytest.raises(CommandError, match=r"long\.csv:3: name has 101 characters"):
        submit(str(path))
    assert not models.Session.objects.exists()


def test_skip_bad_counts_malformed_lines(group, tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text(pathlib.Path(PODS).read_text() + "pod-x,1,2\n")

    assert "1 malformed lines skipped" in submit(str(path), "--skip-bad", "--speed", "100000")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "name a trace file"),
        ((PODS, "--group", "nowhere"), "there is no group nowhere"),
        ((PODS, "--user", "ghost"), "there is no active ghost"),
        (
            (PODS, "--queue", "BE=nowhere"),
            "nothing was submitted:\nline .*: queue: there is no queue 'nowhere'",
        ),
        (("no.csv",), r"no\.csv: No such file"),
    ],
    ids=["no file", "no group", "no user", "no queue", "no such file"],
)
def test_what_cannot_be_done_is_said_and_nothing_is_submitted(group, arguments, message):
    with pytest.raises(CommandError, match=message):
        submit(*arguments)
    assert not models.Session.objects.exists()


def test_without_a_reporting_agent_nothing_is_submitted():
    submit("--make-group")

    with pytest.raises(CommandError, match="no agent of group trace has reported in 1 s"):
        submit(PODS, "--agents-limit", "1")


def test_waiting_fails_when_the_limit_passes(group):
    with pytest.raises(CommandError, match="not settled after 1 s: 0 can never run as asked, 2 alive"):
        submit(PODS, "--last", "2", "--speed", "100000", "--wait", "--wait-limit", "1")
