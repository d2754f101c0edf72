"""Lookups of our own: ``pk__among=ids`` compares with one array, however many ids there are."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from django.db import models


@models.Field.register_lookup
@models.ForeignObject.register_lookup
class Among(models.Lookup):  # type: ignore[type-arg]
    """
    Like ``in`` for integer columns and keys: one parameter, the same statement for one id and for ten thousand.

    ``in`` writes a placeholder for every id, which the driver fills in one by one.
    """

    lookup_name = "among"
    prepare_rhs = False

    def get_prep_lookup(self) -> list[int]:
        """Return the ids as a list."""
        ids: Collection[int] = self.rhs
        return list(ids)

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, list[Any]]:
        """Return ``column = ANY(ids)``."""
        left, params = self.process_lhs(compiler, connection)
        return f"{left} = ANY(%s::bigint[])", [*params, self.rhs]
