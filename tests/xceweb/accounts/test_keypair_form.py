"""The form of a new keypair."""

from __future__ import annotations

import datetime

from scheduler import models
from xceweb.accounts import keypair_form


def test_every_scope_has_its_words():
    assert list(keypair_form.SCOPES) == models.Keypair.Scope.values


def test_it_lasts_as_long_as_is_chosen():
    sent = {"name": "n", "scope": "read"}
    forms = [keypair_form.KeypairForm({**sent, "lasts": days}) for days in ("7", "")]

    assert all(form.is_valid() for form in forms)
    assert [form.length() for form in forms] == [datetime.timedelta(days=7), None]
