"""What set-up services share: who may, and whether a row is sound."""

from __future__ import annotations

from typing import TypeVar

from django.core import exceptions
from django.db import models as django_models

from scheduler import errors
from scheduler.selectors import permissions
from scheduler.services import actors

Row = TypeVar("Row", bound=django_models.Model)


def require_administrator(actor: actors.Actor, what: str) -> None:
    """Raise NotAllowed unless the actor is an administrator or the machine; ``what`` completes "You may not ..."."""
    if actor.user is not None:
        permissions.require_administrator(actor.user, what)


def checked(row: Row, *, exclude: set[str] | None = None) -> Row:
    """
    Return a row whose fields and constraints are sound.

    Args:
        exclude: fields that are filled later in the same transaction.

    Raises:
        Refusal: with a sentence per field.
    """
    try:
        row.full_clean(exclude=exclude)
    except exceptions.ValidationError as error:
        fields = {name: " ".join(texts) for name, texts in error.message_dict.items()}
        raise errors.Refusal(code="invalid", fields=fields) from None
    return row


def checked_reason(reason: str) -> str:
    """
    Return the reason of a change without blanks around it.

    Raises:
        Refusal: it is shorter than 3 or longer than 500 characters.
    """
    text = reason.strip()
    if len(text) < 3:
        fault = "write why, in a few words: people who are stopped will read it"
        raise errors.Refusal(code="reason-required", fields={"reason": fault})
    if len(text) > 500:
        raise errors.Refusal(code="invalid", fields={"reason": "at most 500 characters"})
    return text
