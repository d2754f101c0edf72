"""
Keypairs: issued with the secret shown once, recognised by its hash, revoked at once (DESIGN 2, P05).

A secret is 256 random bits, so one round of SHA-256 protects it as well as a slow hash would, and costs a request
nothing.
"""

from __future__ import annotations

import base64
import dataclasses
import datetime
import hashlib
import hmac
import logging
import secrets

from scheduler import clock, errors, models
from scheduler.selectors import permissions
from scheduler.services import actors, audit, checks
from scheduler.services import work as unit

log = logging.getLogger("xce.security")
Scope = models.Keypair.Scope
#: How many keypairs one person may have that are in force.
MOST_OF_ONE = 50
#: The last use is written at most so often.
_NOTED_EVERY = datetime.timedelta(minutes=1)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Wish:
    """What a keypair is to be."""

    name: str
    scope: str = Scope.SESSIONS.value
    policy: models.KeypairResourcePolicy | None = (
        None  #: None = its user's; another one an administrator chooses
    )
    expires_at: datetime.datetime | None = None  #: None = never


def issue(actor: actors.Actor, user: models.User, wish: Wish) -> tuple[models.Keypair, str]:
    """
    Make a keypair for a person.

    One that is made with a keypair asks under the same policy, unless another is chosen, and ends no later than that.

    Returns:
        The row, and the secret, which is kept nowhere.

    Raises:
        NotAllowed: for somebody else, or with a policy, by a person who is no administrator; or without a role that
            lets the person submit.
        Refusal: no name, an unknown scope, a moment that has passed or is after the end of the keypair that asks, or
            too many keypairs.
    """
    _require(actor, user, wish.policy)
    policy = wish.policy or (actor.keypair.policy if actor.keypair else None)
    name = _checked_name(wish.name)
    if wish.scope not in Scope.values:
        text = f"must be one of {', '.join(Scope.values)}"
        raise errors.Refusal(code="invalid", fields={"scope": text})
    with unit.begin(actor) as work:
        ends = _checked_end(actor, wish.expires_at, work.now)
        models.User.objects.select_for_update(no_key=True).get(pk=user.pk)
        if models.Keypair.objects.filter(user=user, is_active=True).count() >= MOST_OF_ONE:
            text = f"{user.get_username()} has {MOST_OF_ONE} keypairs: revoke one first"
            raise errors.Refusal(text, code="too-many")
        secret = secrets.token_urlsafe(32)
        row = models.Keypair.objects.create(
            name=name,
            access_key="XCE" + base64.b32encode(secrets.token_bytes(10)).decode(),
            secret_hash=_hash(secret),
            user=user,
            policy=policy,
            scope=wish.scope,
            expires_at=ends,
        )
        audit.record_change(work, audit.Subject("keypair", row.access_key), before={}, after=_told(row))
    return row, secret


def _checked_end(
    actor: actors.Actor, wanted: datetime.datetime | None, now: datetime.datetime
) -> datetime.datetime | None:
    """Return when a new keypair ends: as asked, but never after the one that asks for it; None = never."""
    if wanted is not None and wanted <= now:
        raise errors.Refusal(code="invalid", fields={"expires_at": "must be in the future"})
    own = actor.keypair.expires_at if actor.keypair else None
    if own is not None and wanted is not None and wanted > own:
        text = f"is after {own.isoformat(timespec='seconds')}, when the keypair that asks ends itself"
        raise errors.Refusal(code="invalid", fields={"expires_at": text})
    return own if wanted is None else wanted


def _told(row: models.Keypair) -> dict[str, str | None]:
    return {
        "name": row.name,
        "user": row.user.get_username(),
        "scope": row.scope,
        "policy": row.policy.name if row.policy else None,
        "expires_at": row.expires_at.isoformat() if row.expires_at else None,
    }


def revoke(actor: actors.Actor, keypair: models.Keypair, *, reason: str = "") -> None:
    """
    End a keypair: from now on it opens nothing. One that is revoked already stays so.

    Raises:
        NotAllowed: it is somebody else's, and the actor is no administrator.
    """
    _require_own(actor, keypair.user)
    with unit.begin(actor) as work:
        row = models.Keypair.objects.select_for_update(no_key=True).get(pk=keypair.pk)
        if not row.is_active:
            return
        row.is_active = False
        row.save(update_fields=["is_active"])
        subject = audit.Subject("keypair", row.access_key)
        audit.record_change(
            work, subject, before={"is_active": True}, after={"is_active": False}, reason=reason.strip()[:500]
        )


def recognise(access_key: str, secret: str) -> models.Keypair | None:
    """
    Return the keypair in force that this access key and secret are; None when there is none.

    Neither the answer nor its time tells which of the two is wrong. One query, and one more a minute.
    """
    rows = models.Keypair.objects.select_related("user__policy", "policy")
    row = rows.filter(access_key=access_key).first()
    is_right = hmac.compare_digest(row.secret_hash if row else _hash(""), _hash(secret))
    now = clock.now()
    if row is None or not is_right or not is_in_force(row, now):
        log.warning("keypair refused: %.32r", access_key)
        return None
    if row.last_used_at is None or row.last_used_at < now - _NOTED_EVERY:
        models.Keypair.objects.filter(pk=row.pk).update(last_used_at=now)
    return row


def is_in_force(row: models.Keypair, now: datetime.datetime) -> bool:
    """Say whether a keypair opens anything now: not revoked, not over, its person active."""
    return row.is_active and row.user.is_active and (row.expires_at is None or row.expires_at > now)


def _hash(secret: str) -> str:
    return f"sha256${hashlib.sha256(secret.encode()).hexdigest()}"


def _checked_name(name: str) -> str:
    name = name.strip()
    if not name or len(name) > 100 or not name.isprintable():
        text = "write a name of 1 to 100 printable characters, such as what uses it"
        raise errors.Refusal(code="invalid", fields={"name": text})
    return name


def _require(actor: actors.Actor, user: models.User, policy: models.KeypairResourcePolicy | None) -> None:
    _require_own(actor, user)
    if actor.user is None or permissions.is_administrator(actor.user):
        return
    permissions.require(permissions.can_have_keypairs(user), "have keypairs")
    if policy is not None and policy.pk != user.policy_id:
        checks.require_administrator(actor, "choose a keypair's policy")


def _require_own(actor: actors.Actor, user: models.User) -> None:
    if actor.user is not None and actor.user.pk != user.pk:
        checks.require_administrator(actor, "manage somebody else's keypairs")
