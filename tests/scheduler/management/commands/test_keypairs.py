"""`keypairs`: list, issue, revoke."""

from __future__ import annotations

import io

import pytest
from django.core.management import CommandError, call_command

from scheduler import models
from scheduler.services import keypairs
from tests import model_factories

pytestmark = pytest.mark.django_db


def run(*args):
    out = io.StringIO()
    call_command("keypairs", *args, stdout=out)
    return out.getvalue()


def test_one_is_issued_works_and_is_revoked():
    user = model_factories.a_user("alice")
    model_factories.a_resource_policy("narrow", max_priority=5)

    text = run("alice", "--issue", "pipeline", "--scope", "read", "--policy", "narrow")
    row, secret = models.Keypair.objects.get(), text.split("secret      ")[1].split()[0]

    assert keypairs.recognise(row.access_key, secret) == row
    assert (row.user, row.scope, row.policy.name) == (user, "read", "narrow")
    assert secret not in run("alice")
    assert "revoked" in run("alice", "--revoke", row.access_key, "--reason", "lost")
    assert keypairs.recognise(row.access_key, secret) is None


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["nobody"], "there is no person 'nobody'"),
        (["alice", "--issue", "n", "--policy", "none"], "there is no keypair resource policy 'none'"),
        (["alice", "--issue", "n", "--scope", "all"], "must be one of read, sessions, full"),
        (["alice", "--revoke", "XCENONE"], "alice has no keypair XCENONE"),
    ],
)
def test_what_cannot_be_done_is_said(args, message):
    model_factories.a_user("alice")

    with pytest.raises(CommandError, match=message):
        run(*args)
