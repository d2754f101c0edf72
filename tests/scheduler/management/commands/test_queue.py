"""`queue` from the command line."""

import io

import pytest
from django.core.management import CommandError, call_command

from scheduler import models
from tests import worlds

pytestmark = pytest.mark.django_db


def act(verb, slug, *options):
    out = io.StringIO()
    call_command("queue", verb, slug, *options, stdout=out)
    return out.getvalue()


def test_a_queue_is_changed_shown_and_removed():
    worlds.a_world()

    said = act(
        "set", "background", "--field=state=no_submit", "--field=max_slots={}", "--reason=a quiet night"
    )
    shown = act("show", "background").splitlines()
    removed = act("remove", "background", "--reason=not needed", "--expect=2")

    assert said == "background: version 2 is in force\n"
    assert shown[0] == "version 2, by command queue"
    assert {'state = "no_submit"', "preemptible = true", "preemptible_queues = []"} <= set(shown)
    assert removed == "background is removed\n"
    assert not models.Queue.objects.get(slug="urgent").preemptible_queues.exists()


def test_a_cycle_is_said():
    worlds.a_world()
    act("set", "urgent", "--field=preemptible=true", "--reason=a try")

    said = act("set", "background", '--field=preemptible_queues=["urgent"]', "--reason=a try")

    assert said.splitlines()[0].startswith("careful: Queues background and urgent may stop each other's")


@pytest.mark.parametrize(
    ("slug", "options", "fault"),
    [
        ("nowhere", ["--field=state=open"], "no queue 'nowhere'"),
        ("urgent", ["--field=slug=other"], "'slug' is none of: description"),
        ("urgent", ["--field=state=ajar", "--reason=a try"], "state: "),
        ("urgent", ["--field=state=stopped"], "reason: write why"),
        (
            "urgent",
            ["--field=state=stopped", "--reason=a try", "--expect=9"],
            "changed queue urgent meanwhile",
        ),
    ],
)
def test_what_cannot_be_done_is_said_and_nothing_changes(slug, options, fault):
    worlds.a_world()

    with pytest.raises(CommandError, match=fault):
        act("set", slug, *options)

    assert set(models.Queue.objects.values_list("version", flat=True)) == {1}
