"""Many rows written by one statement, where the database layer's way of a row at a time would take seconds."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from django.db import connection, models


def insert(model: type[models.Model], columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """
    Insert rows by COPY, whose ids the database gives.

    Args:
        columns: names of database columns; columns left out get no default but the database's.
        rows: values in the order of the columns, plain ones for JSON columns.

    Raises:
        IntegrityError: a row breaks a constraint.
    """
    names = ", ".join(connection.ops.quote_name(name) for name in columns)
    statement = f"COPY {connection.ops.quote_name(model._meta.db_table)} ({names}) FROM STDIN"
    kinds = {field.column: field for field in model._meta.concrete_fields}
    plain = [place for place, name in enumerate(columns) if isinstance(kinds[name], models.JSONField)]
    with connection.wrap_database_errors, connection.cursor() as cursor, cursor.copy(statement) as copy:
        for values in rows:
            row = list(values)
            for place in plain:
                row[place] = json.dumps(row[place])
            copy.write_row(row)


def run(statement: str, *parameters: Any) -> int:
    """Run one statement; returns how many rows it wrote."""
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return int(cursor.rowcount)


def columns_of(rows: Iterable[Sequence[Any]], width: int) -> list[list[Any]]:
    """Return rows as so many columns, for ``unnest``."""
    columns = [list(column) for column in zip(*rows, strict=True)]
    return columns or [[] for _ in range(width)]
