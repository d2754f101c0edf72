"""What is sent with the rules, and where its faults are shown."""

from __future__ import annotations

from django.test import Client, RequestFactory

from scheduler import errors
from tests import worlds
from xceweb.console import extras, policy_form


def test_each_fault_goes_to_the_form_that_asks_for_it(world: worlds.World) -> None:
    """The rest to the rules, or to the top; none twice."""
    request = RequestFactory().post("/", {"when": "for", "for_amount": "2"})
    request.session = Client().session
    sent, form = extras.of(request), policy_form.PolicyForm(world.group.policy, {})
    assert sent.are_valid()
    form.full_clean()
    form.errors.clear()
    sent.assent.add_error("password", "That is not your password.")

    for fields in (
        {"for_s": "too long", "password": "log in again", "confirm": "write gpu"},
        {"reason": "write why"},
    ):
        extras.add_refusal(form, sent, errors.Refusal(fields=fields))
    extras.add_refusal(form, sent, errors.Refusal("nothing changes"))

    assert sent.when.errors == {"for_amount": ["Too long."]}
    assert sent.assent.errors == {"password": ["That is not your password."], "confirm": ["Write gpu."]}
    assert form.errors == {"reason": ["Write why."], "__all__": ["nothing changes"]}
