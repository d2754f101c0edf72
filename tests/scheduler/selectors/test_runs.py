"""Runs across sessions."""

from __future__ import annotations

import pytest

from scheduler.selectors import runs
from tests import model_factories

pytestmark = pytest.mark.django_db


def test_every_run_is_in_exactly_one_state():
    group = model_factories.a_group()
    node = model_factories.a_node(group=group)
    owner = model_factories.a_user(role="submitter", group=group)
    queue = model_factories.a_queue(groups=[group])
    times = [(None, None), (5, None), (5, 1), (None, 1)]
    for started, ended in times:
        row = model_factories.a_session(owner=owner, queue=queue)
        moments = {"started_at": started, "ended_at": ended}
        model_factories.a_run(
            row, node, **{name: t and model_factories.ago(t) for name, t in moments.items()}
        )

    counts = [runs.narrowed(owner, runs.Filters(state=state)).count() for state in runs.STATES]

    assert (counts, runs.narrowed(owner, runs.Filters()).count()) == ([1, 1, 2], 4)
