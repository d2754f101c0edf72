"""One's own keypairs."""

from __future__ import annotations

from typing import Any

from tests.xceweb.common.samples import frame
from xceweb.accounts import keypair_form


def keypairs() -> dict[str, Any]:
    """Somebody who has just made one, beside one that was revoked and one that has ended."""
    revocation = {
        "key": "revoke-XCEAAAA",
        "label": "Revoke",
        "url": "/accounts/keypairs/XCEAAAA/revoke/",
        "title": "Revoke nightly pipeline?",
        "text": "Whatever uses it is refused from then on.",
        "button": "Revoke",
        "tone": "danger",
        "fields": [{"name": "reason", "label": "Reason", "type": "text", "value": "", "required": False}],
    }
    return {
        **frame.frame("", ("Keypairs", "")),
        "made": {"access_key": "XCEAAAA", "secret": "shown-this-once"},
        "form": keypair_form.KeypairForm({"name": "", "scope": "sessions", "lasts": "90"}),
        "most": 50,
        "keypairs": [
            _row("nightly pipeline", "XCEAAAA", revocation=revocation, expires_at=frame.later(days=90)),
            _row("laptop", "XCEBBBB", state="revoked", last_used_at=frame.ago(days=2)),
            _row("", "XCECCCC", state="over", scope="read", expires_at=frame.ago(days=1)),
        ],
    }


def _row(name: str, access_key: str, **more: Any) -> dict[str, Any]:
    values: dict[str, Any] = {
        "name": name,
        "access_key": access_key,
        "scope": "sessions",
        "state": "in force",
    }
    values |= {"created_at": frame.ago(days=30), "expires_at": None, "last_used_at": None, "revocation": None}
    return values | more


def seen_by_viewer() -> dict[str, Any]:
    """Somebody who may have none."""
    return {**frame.frame("", ("Keypairs", "")), "made": None, "form": None, "keypairs": [], "most": 50}
