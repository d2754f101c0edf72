"""Stories to play in tests, and a database for them: the test's own, of which all is taken back."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from django.db import transaction

from scheduler.scenarios import answers, entries, lifecycle, located, playing, reading

HEAD = "id: A\nkind: lifecycle\nnodes:\n- id: n1\n  cap: {cpu: 4}\n"
CONTEST = """steps:
- {do: running, id: v, job_priority: 1, alloc: {n1: {cpu: 4}}}
- {do: submit, id: p, job_priority: 9, request: {cpu: 4}}
- {do: tick}
"""


@contextlib.contextmanager
def in_savepoint() -> Iterator[None]:
    """A database for one play: all that it writes is taken back."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def play(case: entries.Case | str, database=in_savepoint) -> answers.Result:
    """Play a case, or a text that is one."""
    if isinstance(case, str):
        (case,) = reading.cases(located.parse(HEAD + case))
    return playing.run(case, lambda case: lifecycle.play(case, database))
