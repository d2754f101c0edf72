"""The form of one queue."""

from __future__ import annotations

import pytest
from django import http

from scheduler import models
from tests import model_factories, worlds
from xceweb.dashboard import queue_form
from xceweb.dashboard.contexts import words


def sent_by(form: queue_form.QueueForm) -> http.QueryDict:
    """Return what a browser sends of a form that nobody touched."""
    data = http.QueryDict(mutable=True)
    data["version"] = str(form["version"].value())
    for name, field in form.fields.items():
        value = form[name].value()
        texts = value if isinstance(value, list) else ["" if value is None else str(value)]
        if field.show_hidden_initial:
            data.setlist(f"initial-{name}", texts)
        if value is not False:
            data.setlist(name, texts)
    data["reason"] = "a try"
    return data


@pytest.fixture
def queue(db):
    world = worlds.a_world()
    row = world.queues["urgent"]
    row.max_slots = {"cpu": 4_500, "cuda.device": 8}
    row.save()
    row.submit_users.set([world.people["owner"], world.people["viewer"]])
    return row


def test_a_form_that_nobody_touched_changes_nothing(queue):
    form = queue_form.QueueForm(queue, sent_by(queue_form.QueueForm(queue)))

    assert form.is_valid(), form.errors
    assert form.changes() == {}
    assert form["max_slots"].value() == "cpu=4.5\ncuda.device=8"
    assert form["submit_users"].value() == "olivia, viewer"


def test_what_was_touched_is_read_as_the_service_takes_it(queue):
    data = sent_by(queue_form.QueueForm(queue))
    data["max_slots"] = "cuda.device=2\r\nmem=4g"
    data["submit_users"] = "viewer"
    data["max_concurrent_sessions"] = "9"
    data["preemptible"] = "on"
    data.setlist("preemptible_queues", [])
    data["default_priority"] = ""

    form = queue_form.QueueForm(queue, data)

    assert form.is_valid(), form.errors
    assert form.changes() == {
        "max_concurrent_sessions": 9,
        "max_slots": {"cuda.device": 2, "mem": 4 << 30},
        "submit_users": ["viewer"],
        "preemptible": True,
        "preemptible_queues": [],
    }


@pytest.mark.parametrize("text", ["npu=1", "cpu", "cpu=many", "mem=-1g"])
def test_a_limit_that_is_none_is_said_at_its_field(queue, text):
    data = sent_by(queue_form.QueueForm(queue))
    data["max_slots"] = text

    assert list(queue_form.QueueForm(queue, data).errors) == ["max_slots"]


def test_a_policy_that_is_gone_stays_chosen_and_says_so(queue):
    queue.preempt_policy = "vanished"
    form = queue_form.QueueForm(queue)

    assert ("vanished", "vanished: cannot be used, stops nobody") in form.fields["preempt_policy"].choices
    again = queue_form.QueueForm(queue, sent_by(form))
    assert (again.is_valid(), again.changes()) == (True, {})


def test_who_was_overtaken_keeps_what_does_not_collide(queue):
    data = sent_by(queue_form.QueueForm(queue))
    data["description"], data["max_priority"], data["preemptible"] = "mine", "40", "on"
    sent = queue_form.QueueForm(queue, data)
    newer = models.Queue.objects.get(pk=queue.pk)
    newer.version, newer.max_priority, newer.state = 5, 60, "stopped"
    newer.preemptible_queues.set([])

    form, rows = queue_form.rebased(newer, sent)

    assert form.is_valid(), form.errors
    assert (form.cleaned_data["version"], form.changes()) == (5, {"description": "mine", "preemptible": True})
    told = {row["label"]: (row["before"], row["theirs"], row["mine"], row["is_conflict"]) for row in rows}
    assert told == {
        "Description": (words.NOTHING, words.NOTHING, "mine", False),
        "State": ("open", "stopped", "as before", False),
        "Highest priority": ("100", "60", "40", True),
        "Its sessions can be preempted": ("no", "no", "yes", False),
        "May stop sessions of": ("background", words.NOTHING, "as before", False),
    }


def test_a_queue_may_be_told_to_stop_every_other_one(queue):
    model_factories.a_queue("brand-new")

    choices = [value for value, _ in queue_form.QueueForm(queue).fields["preemptible_queues"].choices]

    assert choices == ["background", "brand-new", "normal", "other"]
