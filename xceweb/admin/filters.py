"""Filters by words that are known beforehand: a list of all values in use would read a whole table to offer them."""

from __future__ import annotations

from typing import Any

from django import http
from django.contrib import admin
from django.db.models import QuerySet


def words(column: str, values: tuple[str, ...]) -> type[admin.SimpleListFilter]:
    """Return a filter by a column of text; each value narrows to itself."""

    def lookups(self: admin.SimpleListFilter, request: http.HttpRequest, model_admin: Any) -> Any:
        return [(value, value) for value in values]

    def queryset(
        self: admin.SimpleListFilter, request: http.HttpRequest, rows: QuerySet[Any]
    ) -> QuerySet[Any]:
        return rows.filter(**{column: self.value()}) if self.value() in values else rows

    attributes = {
        "title": column.rpartition("__")[2].replace("_", " "),
        "parameter_name": column,
        "lookups": lookups,
        "queryset": queryset,
    }
    return type(f"Words{column.title()}", (admin.SimpleListFilter,), attributes)
