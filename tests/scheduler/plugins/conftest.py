"""Foreign policies in processes with short deadlines, gone at the end of each test."""

from __future__ import annotations

import textwrap

import pytest

from scheduler.core import entities
from scheduler.core.preemption import policy
from scheduler.plugins import catalog, pool, process
from tests import plugin_packages

#: Starting an interpreter may take a while on a busy machine; a policy that hangs is given up soon.
LIMITS = process.Limits(start_s=30, answer_s=0.5, round_s=60, answer_bytes=20_000, memory_bytes=512 << 20)


@pytest.fixture
def workers():
    """Return a pool of its own, closed at the end."""
    made = pool.Pool(LIMITS)
    yield made
    made.close()


@pytest.fixture
def on_path(tmp_path, monkeypatch):
    """Return an empty directory on the path of imports."""
    place = tmp_path / "site"
    place.mkdir()
    monkeypatch.syspath_prepend(str(place))
    return place


@pytest.fixture
def a_policy(on_path):
    """Return a maker of one foreign policy from the body of its function ``choose(problem)``."""

    def make(body, *, before="", name="odd"):
        code = f"import os, sys\n{before}\ndef choose(problem):\n{textwrap.indent(textwrap.dedent(body), '    ')}\n"
        plugin_packages.install(on_path, f"{name}_package", {name: "choose"}, code=code)
        return catalog.foreign()[name]

    return make


@pytest.fixture
def problem():
    """Return a problem with one node and two candidates."""
    candidates = tuple(policy.Candidate(i, i, (2, 1), 100 + i, 3, 4) for i in (1, 2))
    target = policy.Target(7, "n7", 0, (2, 1), candidates, most=5)
    return policy.Problem(entities.PreemptionOrder.NEWEST, (target,), 1000, 9)
