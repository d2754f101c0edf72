"""The dry run in words."""

from __future__ import annotations

from scheduler import errors
from tests import worlds
from xceweb.dashboard import submit_form
from xceweb.dashboard.contexts import submit


def _form(world: worlds.World) -> submit_form.SubmitForm:
    form = submit_form.SubmitForm(world.people["owner"], {"name": "work", "command": "true"})
    form.errors.clear()
    return form


def test_a_refusal_is_told_by_the_labels_of_its_fields(world: worlds.World) -> None:
    """Each fault is a sentence under the label that the page shows."""
    form = _form(world)
    form.add_refusal(errors.Refusal(fields={"slots": "mem: 4x is none", "type": "there is none."}))

    assert submit.refused(form)["note"] == "**Memory**: 4x is none. **Type**: There is none."


def test_a_refusal_without_fields_is_told_as_it_is(world: worlds.World) -> None:
    """As one sentence, with nothing bold by accident."""
    form = _form(world)
    form.add_refusal(errors.Refusal("**not** so"))

    assert submit.refused(form)["note"] == "not so."


def test_nothing_is_judged_before_there_is_something() -> None:
    """No fault, no answer."""
    assert submit.incomplete()["outcome"] == "waits"
