"""How far the scope of a keypair reaches."""

from __future__ import annotations

import pytest

CHANGE = {"preemption": {"enabled": False}, "reason": "a test"}
SUBMIT = {"name": "n", "group": "gpu", "queue": "normal", "argv": ["true"], "slots": {"cpu": 1}}


@pytest.mark.parametrize(
    ("scope", "reads", "tries", "submits", "switches"),
    [("read", 200, 200, 403, 403), ("sessions", 200, 200, 201, 403), ("full", 200, 200, 201, 200)],
)
def test_a_scope_is_what_it_says(api_of, scope, reads, tries, submits, switches):
    api = api_of("manager", scope=scope)

    assert api.get("/sessions").status_code == reads
    assert api.post("/sessions/dry-run", SUBMIT).status_code == tries
    assert api.post("/sessions", SUBMIT).status_code == submits
    assert api.send("PATCH", "/resource-groups/gpu/preemption", CHANGE, If_Match="*").status_code == switches


def test_a_scope_never_gives_what_its_person_may_not_do(api_of):
    api = api_of("viewer", scope="full")

    fields = api.post("/sessions", SUBMIT).json()["fields"]
    assert fields["group"] == "you may see gpu, but not submit to it"
    answer = api.send("PATCH", "/resource-groups/gpu/preemption", CHANGE, If_Match="*")
    assert answer.status_code == 403
