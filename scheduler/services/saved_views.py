"""Saved views: kept, changed and removed by the person whose they are."""

from __future__ import annotations

from django.db import IntegrityError, transaction

from scheduler import clock, errors, models
from scheduler.selectors import session_query

MOST_OF_ONE = 50
_LONGEST = {"name": 60, "query": 500}


def keep(user: models.User, *, name: str, query: str) -> models.SavedView:
    """
    Keep a query by a name.

    Raises:
        Refusal: the query or the name cannot be taken, the name is used already, or there are too many.
    """
    row = models.SavedView(user=user, created_at=clock.now())
    if models.SavedView.objects.filter(user=user).count() >= MOST_OF_ONE:
        raise errors.Refusal(f"You keep {MOST_OF_ONE} views: remove one first.", code="too-many")
    return _saved(row, name=name, query=query)


def change(row: models.SavedView, *, name: str | None = None, query: str | None = None) -> models.SavedView:
    """
    Give a saved view another name or query; None leaves it.

    Raises:
        Refusal: as ``keep``.
    """
    return _saved(row, name=row.name if name is None else name, query=row.query if query is None else query)


def remove(row: models.SavedView) -> None:
    """Forget a saved view."""
    models.SavedView.objects.filter(pk=row.pk).delete()


def _saved(row: models.SavedView, *, name: str, query: str) -> models.SavedView:
    row.name, row.query = _checked("name", name), _checked("query", query)
    try:
        session_query.narrow(models.Session.objects.none(), row.user, row.query)
    except errors.Refusal as refusal:
        raise errors.Refusal(code="invalid", fields={"query": refusal.fields["q"]}) from None
    try:
        with transaction.atomic():
            row.save()
    except IntegrityError:
        text = f"you keep a view {row.name!r} already"
        raise errors.Refusal(code="exists", fields={"name": text}) from None
    return row


def _checked(field: str, text: str) -> str:
    text = text.strip()
    if not text or len(text) > _LONGEST[field] or not text.isprintable():
        wanted = f"write 1 to {_LONGEST[field]} printable characters"
        raise errors.Refusal(code="invalid", fields={field: wanted})
    return text
