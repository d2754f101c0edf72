"""Submit a session, and the dry run beside the form."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django import urls
from django.test import Client

from scheduler import models
from tests import model_factories, worlds

ClientOf = Callable[[str], Client]
FORM = {
    "token": "one",
    "name": "new-work",
    "session_type": "batch",
    "command": "python train.py --name 'two words'",
    "script": "",
    "environment": "SEED=7\nEMPTY=",
    "working_directory": "",
    "group": "gpu",
    "queue": "normal",
    "slot-cpu": "0.5",
    "slot-mem": "2g",
    "slot-cuda.device": "1",
    "node_count": "1",
    "wall_time": "90m",
    "priority": "",
    "job_priority": "12",
    "is_preemptible": "on",
    "exit_0_after_warning": "finished",
}


def send(client: Client, **changes: str) -> tuple[int, str]:
    """Send the form with changes; return status and page."""
    answer = client.post(urls.reverse("dashboard:session-submit"), {**FORM, **changes})
    return answer.status_code, answer.content.decode()


def dry_run(client: Client, **changes: str) -> str:
    """Return the dry run of the form with changes."""
    answer = client.post(urls.reverse("dashboard:session-dry-run"), {**FORM, **changes})
    assert answer.status_code == 200
    return answer.content.decode()


def test_an_interactive_session_may_say_its_port_and_is_told_what_it_may_lose(
    world: worlds.World, client_of: ClientOf
) -> None:
    """Before it is submitted, and on its page."""
    client = client_of("owner")
    asked = client.get(urls.reverse("dashboard:session-submit")).content.decode()
    send(client, session_type="interactive", port="8888")
    made = models.Session.objects.get(name="new-work")
    facts = client.get(urls.reverse("dashboard:session-tab", args=[made.public_id, "facts"])).content.decode()

    assert "every connection are lost, and its node may be another" in asked
    assert made.port == 8888
    assert "what is in its memory and every connection are lost" in facts


def test_a_form_becomes_a_session_as_written(world: worlds.World, client_of: ClientOf) -> None:
    """Command split, amounts in smallest units, times in seconds."""
    status, _ = send(client_of("owner"))

    made = models.Session.objects.get(name="new-work")
    assert status == 302
    assert made.argv == ["python", "train.py", "--name", "two words"]
    assert made.slots == {"cpu": 500, "mem": 2 << 30, "cuda.device": 1}
    assert (made.wall_limit, made.job_priority, made.is_preemptible) == (5_400, 12, True)
    assert made.environment == {"SEED": "7", "EMPTY": ""}


def test_a_form_that_comes_twice_makes_one_session(world: worlds.World, client_of: ClientOf) -> None:
    """The second answer leads to what the first made."""
    client = client_of("owner")
    first = client.post(urls.reverse("dashboard:session-submit"), FORM)
    second = client.post(urls.reverse("dashboard:session-submit"), FORM)

    assert first["Location"] == second["Location"]
    assert models.Session.objects.filter(name="new-work").count() == 1


def test_a_script_keeps_its_lines(world: worlds.World, client_of: ClientOf) -> None:
    """Browsers send CR LF; a script has LF."""
    send(client_of("owner"), command="", script="#!/bin/sh\r\necho 1\r\n")

    assert models.Session.objects.get(name="new-work").script.startswith("#!/bin/sh\necho 1")


FAULTS = {
    "priority above the cap": ({"priority": "90"}, "90 is above 40"),
    "memory that is none": ({"slot-mem": "4x"}, "has an unknown unit"),
    "half a device": ({"slot-cuda.device": "0.5"}, "finer than the smallest unit"),
    "unknown queue": ({"queue": "nowhere"}, "is not there, or takes no sessions of yours"),
    "queue of another group": ({"queue": "other"}, "is not there, or takes no sessions of yours"),
    "group that is not one's own": ({"group": "elsewhere"}, "is not there, or takes no sessions of yours"),
    "no command": ({"command": ""}, "Write a command, or a script"),
    "command and script": ({"script": "echo"}, "Write a command, or a script"),
    "open quotation": ({"command": "echo 'x"}, "Cannot be read"),
    "no name": ({"name": ""}, "This field is required"),
    "port that is none": ({"port": "70000"}, "less than or equal to 65535"),
    "time that is none": ({"wall_time": "soon"}, "Write for example 90"),
    "environment that is none": ({"environment": "A B"}, "is not NAME=value"),
    "nothing asked for": (
        {"slot-cpu": "", "slot-mem": "", "slot-cuda.device": "0"},
        "Ask for at least one slot",
    ),
    "rank too large": ({"job_priority": str(2**40)}, "Must be a whole number"),
}


@pytest.mark.parametrize("fault", sorted(FAULTS))
def test_a_fault_is_shown_at_its_field_and_nothing_is_made(
    world: worlds.World, client_of: ClientOf, fault: str
) -> None:
    """The form comes back as it was written."""
    models.KeypairResourcePolicy.objects.filter(name="default").update(max_priority=40)
    changes, text = FAULTS[fault]

    status, page = send(client_of("owner"), **changes)

    assert status == 422
    assert text in page
    assert not models.Session.objects.filter(name="new-work").exists()


def test_an_opt_out_that_the_policy_does_not_allow_is_refused(
    world: worlds.World, client_of: ClientOf
) -> None:
    """At the box that was unticked."""
    models.KeypairResourcePolicy.objects.update(may_opt_out=False)
    client = client_of("owner")

    answer = client.post(
        urls.reverse("dashboard:session-submit"), {k: v for k, v in FORM.items() if k != "is_preemptible"}
    )

    assert answer.status_code == 422
    assert "does not let sessions opt out" in answer.content.decode()


def test_viewers_have_no_group_to_submit_to(world: worlds.World, client_of: ClientOf) -> None:
    """The choice is empty, and a forged one is refused."""
    status, page = send(client_of("viewer"))

    assert status == 422
    assert "is not there, or takes no sessions of yours" in page


def test_a_free_node_means_starts_now(world: worlds.World, client_of: ClientOf) -> None:
    """One GPU is free on gpu-1."""
    assert "<b>start now</b> on <b>gpu-1</b>" in dry_run(client_of("owner"))


def test_a_request_larger_than_any_node_never_runs(world: worlds.World, client_of: ClientOf) -> None:
    """Said before it is submitted, with the numbers, and with a smaller request that would start."""
    text = dry_run(client_of("owner"), **{"slot-cuda.device": "8"})

    assert "It can never run as asked" in text
    assert "With 4 GPUs" in text


def test_own_lower_sessions_would_be_stopped(world: worlds.World, client_of: ClientOf) -> None:
    """The dry run counts them."""
    model_factories.a_session(
        owner=world.people["owner"],
        queue=world.queues["normal"],
        group=world.group,
        state="running",
        job_priority=1,
        slots={"cuda.device": 4},
    )

    text = dry_run(client_of("owner"), **{"slot-cuda.device": "4"})

    assert "would stop <b>1 session</b> of your own sessions" in text


def test_without_room_it_waits_and_says_why(world: worlds.World, client_of: ClientOf) -> None:
    """Others' sessions fill the node."""
    model_factories.a_session(
        owner=world.people["submitter"],
        queue=world.queues["normal"],
        group=world.group,
        state="running",
        slots={"cuda.device": 4},
    )

    text = dry_run(client_of("owner"), **{"slot-cuda.device": "2"})

    assert "It would <b>wait</b>" in text
    assert "<b>2</b> GPUs" in text


def test_a_faulty_form_says_what_would_be_refused(world: worlds.World, client_of: ClientOf) -> None:
    """The same check as the submission's, under the field's label."""
    text = dry_run(client_of("owner"), **{"slot-mem": "4x", "node_count": "0"})

    assert "<b>Nodes</b>: Ensure this value is greater than or equal to 1." in text
    assert "<b>Memory</b>: &#x27;4x&#x27; has an unknown unit" in dry_run(
        client_of("owner"), **{"slot-mem": "4x"}
    )


def test_an_empty_form_is_not_judged(world: worlds.World, client_of: ClientOf) -> None:
    """No red box before anything was written."""
    text = dry_run(client_of("owner"), name="", command="")

    assert "<b>Fill in the form</b>: this tells what would happen." in text
    assert "callout--fail" not in text


def test_a_fresh_page_asks_for_nothing_and_blames_nobody(world: worlds.World, client_of: ClientOf) -> None:
    """The dry run waits for a change."""
    page = client_of("owner").get(urls.reverse("dashboard:session-submit")).content.decode()

    assert "<b>Fill in the form</b>: this tells what would happen." in page
    assert "callout--fail" not in page
    assert ", load" not in page


def test_a_form_that_was_sent_with_faults_says_so_beside_it(world: worlds.World, client_of: ClientOf) -> None:
    """By the labels of its fields."""
    _, page = send(client_of("owner"), name="")

    assert "<b>Name</b>: This field is required." in page
    assert "callout--fail" in page


def test_a_dry_run_writes_nothing(world: worlds.World, client_of: ClientOf) -> None:
    """No row, no event."""
    before = (models.Session.objects.count(), models.Event.objects.count(), models.Round.objects.count())

    dry_run(client_of("owner"))

    after = (models.Session.objects.count(), models.Event.objects.count(), models.Round.objects.count())
    assert after == before
