"""
One table of the console: which columns, what is searched, which filters; nothing of it can be written here.

A listing is data; ``register`` makes Django's class of it. Columns that name a row of another table are read with the
same query, so that a list costs the same number of queries whatever its length.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

from django import http, urls
from django.core.exceptions import FieldDoesNotExist
from django.db import models as django_models
from unfold import admin as unfold

from scheduler.selectors import permissions
from xceweb.admin import history
from xceweb.admin.site import Console

Column = str | Callable[[Any], Any]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Listing:
    """One table."""

    model: type[django_models.Model]
    columns: tuple[Column, ...]
    search: tuple[str, ...]
    searched: str  #: what is searched, in words
    filters: tuple[Any, ...] = ()
    joins: tuple[str, ...] = ()  #: further rows that columns made by functions read
    hidden: tuple[str, ...] = ()  #: columns that nobody needs to read, secrets first of all
    order: tuple[str, ...] = ("-pk",)
    page: Callable[[Any], str] | None = None  #: address of the product's own page of a row
    subjects: history.Subjects | None = None  #: under which names the audit knows a row
    events: str = ""  #: the event's column that names a row


class ReadOnly(unfold.ModelAdmin):
    """Rows to look at: neither added nor changed nor deleted here, by nobody."""

    listing: Listing
    actions = None
    change_list_template = "admin/listing.html"
    list_per_page = 50
    show_full_result_count = False
    compressed_fields = True

    def has_add_permission(self, request: http.HttpRequest, *args: Any) -> bool:
        """Rows come from services."""
        return False

    def has_change_permission(self, request: http.HttpRequest, obj: Any = None) -> bool:
        """Rows are changed by services."""
        return False

    def has_delete_permission(self, request: http.HttpRequest, obj: Any = None) -> bool:
        """Rows are deleted by services, where they ever are."""
        return False

    def has_view_permission(self, request: http.HttpRequest, obj: Any = None) -> bool:
        """Administrators may look."""
        return permissions.is_administrator(request.user)

    def has_module_permission(self, request: http.HttpRequest) -> bool:
        """Administrators may look."""
        return permissions.is_administrator(request.user)

    def get_urls(self) -> list[Any]:
        """Return three addresses: the list, one row, and its history."""
        name = f"{self.opts.app_label}_{self.opts.model_name}"
        view = self.admin_site.admin_view
        return [
            urls.path("", view(self.changelist_view), name=f"{name}_changelist"),
            urls.path("<path:object_id>/history/", view(self.history_view), name=f"{name}_history"),
            urls.path("<path:object_id>/change/", view(self.change_view), name=f"{name}_change"),
        ]

    def history_view(
        self, request: http.HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> http.HttpResponse:
        """Show who changed the row when, how and why, and what happened to it."""
        row = self.get_object(request, object_id)
        if row is None:
            raise http.Http404("no such row")
        context = {**self.admin_site.each_context(request), **history.context(row, self.listing)}
        context |= {"opts": self.opts, "original": row, "object": row, "title": f"History of {row}"}
        return http.HttpResponse(history.render(request, context))

    def _get_obj_does_not_exist_redirect(self, *args: Any) -> NoReturn:
        raise http.Http404("no such row")


def register(site: Console, listings: Iterable[Listing]) -> None:
    """Put listings on a site."""
    for each in listings:
        site.register(each.model, _made(each))


def _made(listing: Listing) -> type[ReadOnly]:
    fields = shown_fields(listing)
    attributes = {
        "listing": listing,
        "list_display": listing.columns,
        "list_select_related": tuple(sorted(_joined(listing))) or False,
        "list_filter": listing.filters,
        "search_fields": listing.search,
        "search_help_text": f"Searches {listing.searched}",
        "fields": fields,
        "readonly_fields": fields,
        "ordering": listing.order,
    }
    if listing.page is not None:
        attributes["view_on_site"] = staticmethod(listing.page)
    return type(f"{listing.model.__name__}Listing", (ReadOnly,), attributes)


def shown_fields(listing: Listing) -> tuple[str, ...]:
    """Return the columns of a row's page: all but the hidden ones and binary ones."""
    opts = listing.model._meta
    fields = [*opts.fields, *opts.many_to_many]
    return tuple(
        field.name
        for field in fields
        if field.name not in listing.hidden and not isinstance(field, django_models.BinaryField)
    )


def _joined(listing: Listing) -> set[str]:
    columns = {column for column in listing.columns if isinstance(column, str)}
    return {join for column in columns if (join := _join_of(listing.model, column))} | set(listing.joins)


def _join_of(model: type[django_models.Model], column: str) -> str:
    """Return the rows that a column reads beside its own: ``owner`` for itself, ``node__group`` for a group's slug."""
    path: list[str] = []
    for part in column.split("__"):
        try:
            field = model._meta.get_field(part)
        except FieldDoesNotExist:
            break
        if not (field.many_to_one or field.one_to_one):
            break
        path.append(part)
        model = field.related_model
    return "__".join(path)
