"""The page of queues: an administrator ticks boxes, and nobody overwrites somebody else's."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.http import HttpResponse, QueryDict
from django.test import Client

from scheduler import models
from tests import worlds
from tests.xceweb.dashboard import test_queue_form
from xceweb.dashboard import queue_form
from xceweb.dashboard.views import queues

ClientOf = Callable[[str], Client]
BOX = re.compile(r'<input type="checkbox" name="(\w+)" value="([^"]+)"( checked)?')
HIDDEN = re.compile(r'<input type="hidden" name="(versions|was|was_preemptible)" value="([^"]*)"')


def boxes(text: str) -> dict[str, list[str]]:
    """Return what a browser would send of a page: each name with its values."""
    found = {name: [value] for name, value in HIDDEN.findall(text)}
    for name, value, is_on in BOX.findall(text):
        if is_on:
            found.setdefault(name, []).append(value)
    return found


def _audit() -> list[tuple[str, str, str, bool]]:
    rows = models.ConfigChange.objects.filter(object_type="queue").order_by("pk")
    return [(row.object_name, row.actor_name, row.reason, bool(row.request_id)) for row in rows]


def _takes(name: str) -> list[str]:
    return sorted(models.Queue.objects.get(slug=name).preemptible_queues.values_list("slug", flat=True))


def _save(client: Client, sent: dict[str, list[str]], **more: str) -> HttpResponse:
    return client.post("/queues/", {**sent, "reason": "night runs", **more})


def test_p05_a_box_is_saved_by_a_plain_form_with_a_row_for_each_queue(
    world: worlds.World, client_of: ClientOf
) -> None:
    """As it is without script."""
    client = client_of("administrator")
    sent = boxes(client.get("/queues/").content.decode())
    assert sent["takes"] == ["urgent:background"]
    sent["takes"] = ["urgent:background", "urgent:normal"]
    sent["preemptible"] += ["normal"]

    answer = _save(client, sent)

    assert answer.status_code == 302, answer.content.decode()
    assert _takes("urgent") == ["background", "normal"]
    assert models.Queue.objects.get(slug="normal").preemptible
    assert _audit() == [
        ("urgent", "administrator", "night runs", True),
        ("normal", "administrator", "night runs", True),
    ]
    assert "new rules of urgent and normal" in client.get("/queues/").content.decode()


def test_unticking_all_leaves_an_empty_list(world: worlds.World, client_of: ClientOf) -> None:
    """Nobody, not everybody."""
    client = client_of("administrator")
    sent = boxes(client.get("/queues/").content.decode())
    del sent["takes"]

    assert _save(client, sent).status_code == 302
    assert _takes("urgent") == []


@pytest.mark.parametrize("is_fragment", [True, False])
def test_a_cycle_is_warned_of_before_anything_is_saved(
    world: worlds.World, client_of: ClientOf, is_fragment: bool
) -> None:
    """By script as soon as the box is ticked, else by the button that checks."""
    client = client_of("administrator")
    sent = boxes(client.get("/queues/").content.decode())
    sent["takes"] += ["background:urgent"]
    sent["preemptible"] += ["urgent"]

    address = "/queues/?part=queue_graph" if is_fragment else "/queues/"
    answer = client.post(address, sent if is_fragment else {**sent, "act": "check"})

    text = answer.content.decode()
    assert (answer.status_code, "<html" in text) == (200, not is_fragment)
    assert "Queues <b>background and urgent</b> may stop each other" in text
    assert "not saved yet" in text
    assert (_audit(), _takes("background")) == ([], [])


def test_who_was_slower_sees_the_difference_and_saves_nothing(
    world: worlds.World, client_of: ClientOf
) -> None:
    """The boxes then stand on the newer rules, with one's own changes on top."""
    client = client_of("administrator")
    slow = boxes(client.get("/queues/").content.decode())
    fast = {**slow, "takes": ["urgent:background", "urgent:normal"]}
    assert _save(client, fast, reason="the paper is out").status_code == 302
    slow["takes"] = ["urgent:background", "urgent:other", "normal:background"]

    answer = _save(client, slow)

    text = answer.content.decode()
    assert answer.status_code == 409
    assert "Nothing of yours was saved" in text
    assert "may stop normal" in text
    assert "the paper is out" in text
    assert (_takes("urgent"), _takes("normal"), len(_audit())) == (["background", "normal"], [], 1)
    assert boxes(text)["takes"] == [
        "normal:background",
        "urgent:background",
        "urgent:normal",
        "urgent:other",
    ]
    assert _save(client, boxes(text)).status_code == 302
    assert (_takes("urgent"), _takes("normal")) == (["background", "normal", "other"], ["background"])


def test_a_change_without_a_reason_keeps_the_boxes(world: worlds.World, client_of: ClientOf) -> None:
    """And says what is missing."""
    client = client_of("administrator")
    sent = boxes(client.get("/queues/").content.decode())
    sent["takes"] = ["normal:background"]

    answer = _save(client, sent, reason=" ")

    assert answer.status_code == 422
    assert "Not saved: write why" in answer.content.decode()
    assert boxes(answer.content.decode())["takes"] == ["normal:background"]
    assert _audit() == []


def test_others_see_the_rules_of_their_queues_and_change_none(
    world: worlds.World, client_of: ClientOf
) -> None:
    """Not even by sending the form."""
    text = client_of("manager").get("/queues/").content.decode()

    assert "<b>urgent</b> may stop sessions of background." in text
    assert (BOX.findall(text), "matrix-reason" in text, ">other<" in text) == ([], False, False)
    assert client_of("manager").post("/queues/", {"versions": "urgent:1"}).status_code == 403


def _form(name: str) -> QueryDict:
    return test_queue_form.sent_by(queue_form.QueueForm(models.Queue.objects.get(slug=name)))


def _post(client: Client, path: str, data: QueryDict) -> HttpResponse:
    return client.post(path, data.urlencode(), content_type="application/x-www-form-urlencoded")


def test_one_queue_is_changed_on_its_page(world: worlds.World, client_of: ClientOf) -> None:
    """Several fields are one change with one row."""
    client, data = client_of("administrator"), _form("urgent")
    data["state"], data["max_priority"] = "no_submit", "80"

    answer = _post(client, "/queues/urgent/", data)

    assert answer.status_code == 302, answer.content.decode()
    row = models.Queue.objects.get(slug="urgent")
    assert (row.state, row.max_priority, row.version) == ("no_submit", 80, 2)
    assert _audit() == [("urgent", "administrator", "a try", True)]
    assert "version 2 of urgent" in client.get("/queues/urgent/").content.decode()


def test_a_browser_sends_the_form_back_as_the_page_wrote_it(world: worlds.World, client_of: ClientOf) -> None:
    """Each field carries what it was, so that a change is told from what somebody else changed."""
    text = client_of("administrator").get("/queues/urgent/").content.decode()

    written = re.findall(r'<input type="hidden" name="(initial-\w+)"', text)
    assert sorted(written) == sorted(key for key in _form("urgent") if key.startswith("initial-"))


def test_who_was_slower_on_the_page_of_a_queue_sees_three_values(
    world: worlds.World, client_of: ClientOf
) -> None:
    """Nothing is saved, and what does not collide stays in the form."""
    client, slow, fast = client_of("administrator"), _form("urgent"), _form("urgent")
    fast["max_priority"], fast["reason"] = "60", "the paper is out"
    slow["max_priority"], slow["description"] = "40", "for releases"
    assert _post(client, "/queues/urgent/", fast).status_code == 302

    answer = _post(client, "/queues/urgent/", slow)

    text = answer.content.decode()
    assert answer.status_code == 409
    assert "administrator was faster" in text
    assert "the paper is out" in text
    assert "both changed it" in text
    assert 'value="for releases"' in text
    assert models.Queue.objects.get(slug="urgent").description == ""


def test_a_refusal_stands_at_its_field(world: worlds.World, client_of: ClientOf) -> None:
    """And the values stay."""
    data = _form("urgent")
    data["submit_users"], data["reason"] = "nobody", ""

    text = _post(client_of("administrator"), "/queues/urgent/", data).content.decode()
    assert "Write why" in text
    data["reason"] = "a try"
    answer = _post(client_of("administrator"), "/queues/urgent/", data)

    assert answer.status_code == 422
    assert "There is no person nobody." in answer.content.decode()
    assert _audit() == []


def test_a_vanished_policy_is_shown_and_not_replaced(world: worlds.World, client_of: ClientOf) -> None:
    """Whatever else of the queue is changed."""
    models.Queue.objects.filter(slug="urgent").update(preempt_policy="vanished")
    client, data = client_of("administrator"), _form("urgent")
    assert (
        "vanished is not installed: this queue preempts nobody"
        in client.get("/queues/urgent/").content.decode()
    )
    data["state"] = "stopped"

    assert _post(client, "/queues/urgent/", data).status_code == 302
    row = models.Queue.objects.get(slug="urgent")
    assert (row.state, row.preempt_policy) == ("stopped", "vanished")


def test_a_queue_is_removed_with_a_reason_unless_it_has_sessions(
    world: worlds.World, client_of: ClientOf
) -> None:
    """And leaves the lists."""
    client = client_of("administrator")

    assert client.post("/queues/background/remove/", {"version": "1", "reason": ""})["Location"].endswith(
        "background/"
    )
    assert client.post("/queues/normal/remove/", {"version": "1", "reason": "tidy"})["Location"].endswith(
        "normal/"
    )
    assert (
        client.post("/queues/background/remove/", {"version": "1", "reason": "tidy"})["Location"]
        == "/queues/"
    )

    assert _takes("urgent") == []
    assert sorted(models.Queue.objects.values_list("slug", flat=True)) == ["normal", "other", "urgent"]
    assert queues.queue_remove.__doc__
