"""Sessions by API: submitted, found, changed, acted on, with the sight of the reader."""

from __future__ import annotations

import pytest

from scheduler import models
from scheduler.services import actors, people
from tests import model_factories

SUBMIT = {
    "name": "n",
    "group": "gpu",
    "queue": "normal",
    "argv": ["true"],
    "slots": {"cpu": "1.5", "mem": "1g"},
}
#: The eleven values that must never become another number, with the cap of 50 in force.
VALUES = (-1, 0, 50, 51, 100, 101, 2**31, "9", 9.5, True, None)
TAKEN = {0: 0, 50: 50, None: 10}


@pytest.fixture
def capped(world):
    """The owner may ask for at most 50."""
    policy = model_factories.a_resource_policy("capped", max_priority=50)
    models.User.objects.filter(pk=world.people["owner"].pk).update(policy=policy)
    world.people["owner"].refresh_from_db()
    return policy


def test_a_submitted_session_is_what_was_asked_for(api_of):
    body = {
        **SUBMIT,
        "environment": {"SEED": "7"},
        "job_priority": -3,
        "is_preemptible": False,
        "wall_limit": 60,
    }

    answer = api_of("owner").post("/sessions", body)

    found = answer.json()
    assert (answer.status_code, answer["Location"]) == (201, f"/api/v1/sessions/{found['id']}")
    row = models.Session.objects.get(public_id=found["id"])
    assert (row.owner.username, row.slots, row.job_priority) == ("olivia", {"cpu": 1500, "mem": 1 << 30}, -3)
    assert (found["state"], found["is_preemptible"], found["environment"]) == (
        "pending",
        False,
        {"SEED": "7"},
    )


def test_all_faults_of_a_request_are_told_at_once_and_nothing_is_written(api_of):
    before = models.Session.objects.count()

    answer = api_of("owner").post(
        "/sessions", {**SUBMIT, "queue": "nowhere", "slots": {"gold": 1}, "script": "x"}
    )

    assert (answer.status_code, set(answer.json()["fields"])) == (400, {"queue", "slots", "command"})
    assert models.Session.objects.count() == before


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_no_value_becomes_another_priority(api_of, capped, value):
    api = api_of("owner")
    row = models.Session.objects.get(public_id=api.post("/sessions", SUBMIT).json()["id"])

    submitted = api.post("/sessions", {**SUBMIT, "name": "asked", "priority": value})
    changed = api.send("PATCH", f"/sessions/{row.public_id}", {"priority": value})
    tried = api.post("/sessions/dry-run", {**SUBMIT, "priority": value})

    row.refresh_from_db()
    is_taken = type(value) in (int, type(None)) and value in TAKEN
    assert submitted.status_code == (201 if is_taken else 400)
    assert tried.status_code == (200 if is_taken else 400)
    is_changed = is_taken and value is not None
    assert (changed.status_code, row.priority) == ((200, TAKEN[value]) if is_changed else (400, 10))
    asked = models.Session.objects.filter(name="asked").values_list("priority", flat=True)
    assert list(asked) == ([TAKEN[value]] if is_taken else [])


def test_a_keypair_asks_under_its_own_policy(api_of, world, capped):
    narrow = people.create_resource_policy(actors.SYSTEM, "narrow", max_priority=20, may_opt_out=False)
    api = api_of("owner", policy=narrow)

    refused = api.post("/sessions", {**SUBMIT, "priority": 21})
    opted_out = api.post("/sessions", {**SUBMIT, "is_preemptible": False})
    taken = api.post("/sessions", {**SUBMIT, "priority": 20})
    raised = api.send("PATCH", f"/sessions/{taken.json()['id']}", {"priority": 30})

    assert refused.json()["fields"] == {"priority": "21 is above 20, the cap of your policy narrow"}
    assert (opted_out.status_code, taken.status_code, raised.status_code) == (400, 201, 400)
    assert (
        api_of("owner").send("PATCH", f"/sessions/{taken.json()['id']}", {"priority": 30}).status_code == 200
    )


def test_what_is_done_to_a_session_is_done_by_services(api_of, world):
    api, path = api_of("owner"), f"/sessions/{world.waiting.public_id}"

    held = api.post(f"{path}/hold").json()
    released = api.post(f"{path}/release").json()
    changed = api.send("PATCH", path, {"job_priority": 77}).json()
    cancelled = api.post(f"{path}/cancel", {"reason": "wrong data"}).json()

    assert (held["is_held"], held["reason"], released["is_held"]) == (True, "held", False)
    assert (changed["job_priority"], cancelled["state"], cancelled["result"]) == (
        77,
        "terminated",
        "cancelled",
    )
    assert api.post(f"{path}/hold").json()["code"] == "wrong-state"
    assert api.post(f"{path}/explode").status_code == 404


@pytest.mark.parametrize(
    ("person", "status"),
    [("viewer", 403), ("submitter", 403), ("operator", 200), ("manager", 200), ("outsider", 404)],
)
def test_only_who_may_act_acts(api_of, world, person, status):
    assert api_of(person).post(f"/sessions/{world.waiting.public_id}/hold").status_code == status


@pytest.mark.parametrize("person", ["viewer", "submitter", "operator", "manager"])
def test_nothing_of_others_is_told_that_a_page_would_hide(api_of, world, person):
    api = api_of(person)
    answers = [
        api.get("/sessions"),
        api.get(f"/sessions/{world.waiting.public_id}"),
        api.get("/queues/normal/order"),
    ]
    answers += [api.get("/preemptions"), api.get("/decisions"), api.get("/events"), api.get("/nodes/gpu-1")]
    text = " ".join(answer.content.decode() for answer in answers)

    assert "hidden-token" not in text
    assert ("secret-program" in text) == (person in ("operator", "manager"))
    if person in ("viewer", "submitter"):
        assert "late-work" not in text
        assert "olivia" not in text


def test_what_one_may_not_see_is_not_there(api_of, world):
    models.Session.objects.filter(pk=world.waiting.pk).update(is_private=True)
    api = api_of("operator")

    assert api.get(f"/sessions/{world.waiting.public_id}").status_code == 404
    assert str(world.waiting.public_id) not in api.get("/sessions", count=1).content.decode()
    assert api.get("/sessions", count=1).json()["count"] == 2


def test_dependencies_name_sessions_that_one_may_see(api_of, world):
    api, other = api_of("owner"), str(world.running.public_id)

    good = api.post("/sessions", {**SUBMIT, "dependencies": [{"kind": "afterok", "session": other}]})
    bad = [
        api.post("/sessions", {**SUBMIT, "dependencies": [one]})
        for one in (
            {"kind": "never", "session": other},
            {"kind": "afterok", "session": "x"},
            {"session": other},
        )
    ]

    assert good.status_code == 201
    assert {answer.status_code for answer in bad} == {400}
    assert {tuple(answer.json()["fields"]) for answer in bad} == {("dependencies",)}
