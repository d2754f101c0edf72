"""The switch by API: ETag, If-Match, difference, preview."""

from __future__ import annotations

import pytest

from scheduler import models
from tests import model_factories
from xceweb.api.v1 import rule_shapes

PATH = "/resource-groups/gpu/preemption"


def change(api, preemption, *, match="*", reason="a good reason", method="PATCH"):
    headers = {"If_Match": match} if match else {}
    return api.send(method, PATH, {"preemption": preemption, "reason": reason}, **headers)


def test_the_switch_is_read_with_its_version_and_turned_with_it(api_of, world):
    api = api_of("manager")
    read = api.get(PATH)

    off = change(api, {"enabled": False}, match=read["ETag"])

    assert (read.json()["preemption"]["enabled"], read.json()["preemption"]["state"]) == (True, "on")
    assert (off.status_code, off["ETag"], off.json()["preemption"]["state"]) == (200, '"2"', "off")
    audit = models.ConfigChange.objects.get(
        object_type="resource group policy", after__preemption_state="off"
    )
    assert (audit.actor_name, audit.reason, audit.request_id) == (
        "manager",
        "a good reason",
        off["X-Request-ID"],
    )


def test_who_comes_late_is_shown_what_changed(api_of):
    api = api_of("manager")
    etag = api.get(PATH)["ETag"]
    change(api, {"min_runtime": 60}, match=etag)

    late = change(api, {"enabled": False}, match=etag)

    assert (late.status_code, late.json()["code"]) == (412, "precondition-failed")
    assert late.json()["fields"] == {"preemption.min_runtime": "was 0, is 60 now"}
    assert api.get(PATH).json()["preemption"]["enabled"]


def test_a_change_without_if_match_overwrites_nobody(api_of):
    assert change(api_of("manager"), {"enabled": False}, match="").status_code == 428


def test_put_replaces_all_rules_and_patch_those_that_are_named(api_of):
    api = api_of("manager")

    change(api, {"min_runtime": 60, "mode": "terminate"})
    kept = change(api, {"grace_period": 20}).json()["preemption"]
    replaced = change(api, {"enabled": True, "grace_period": 30}, method="PUT").json()["preemption"]

    assert (kept["min_runtime"], kept["mode"], kept["grace_period"]) == (60, "terminate", 20)
    assert (replaced["min_runtime"], replaced["grace_period"], replaced["enabled"]) == (0, 30, True)


@pytest.mark.parametrize(
    ("preemption", "field"),
    [
        ({"enabled": "true"}, "preemption.enabled"),
        ({"enabled": True, "state": "off"}, "preemption.enabled"),
        ({"mode": "explode"}, "preemption.mode"),
        ({"grace_period": 86_401}, "preemption.grace_period"),
        ({"min_runtime": -1}, "preemption.min_runtime"),
        ({"min_runtime": "60"}, "preemption.min_runtime"),
        ({"suspend_releases": ["gold"]}, "preemption.suspend_releases"),
        ({"nonsense": 1}, "preemption.nonsense"),
    ],
)
def test_a_bad_rule_is_named_and_changes_nothing(api_of, preemption, field):
    api = api_of("manager")

    answer = change(api, preemption)

    assert (answer.status_code, list(answer.json()["fields"])) == (400, [field])
    assert api.get(PATH).json()["version"] == 1


def test_a_reason_is_needed(api_of):
    api = api_of("manager")

    assert change(api, {"enabled": False}, reason="").status_code == 400
    assert api.send("PATCH", PATH, {"preemption": {"enabled": False}}, If_Match="*").status_code == 400


@pytest.mark.parametrize(
    ("person", "reads", "previews", "changes"),
    [
        ("viewer", 200, 403, 403),
        ("operator", 200, 200, 403),
        ("manager", 200, 200, 200),
        ("outsider", 404, 404, 404),
    ],
)
def test_who_may(api_of, person, reads, previews, changes):
    api = api_of(person)

    assert api.get(PATH).status_code == reads
    assert api.post(f"{PATH}/preview", {"preemption": {"mode": "suspend"}}).status_code == previews
    assert change(api, {"min_runtime": 5}).status_code == changes


def test_a_preview_leaves_no_trace(api_of, world):
    model_factories.a_session(
        owner=world.people["owner"],
        queue=world.queues["normal"],
        group=world.group,
        name="asks",
        job_priority=99,
    )
    before = (
        models.Decision.objects.count(),
        models.Event.objects.count(),
        models.PolicyVersion.objects.count(),
    )

    found = api_of("operator").post(f"{PATH}/preview", {}).json()

    after = (
        models.Decision.objects.count(),
        models.Event.objects.count(),
        models.PolicyVersion.objects.count(),
    )
    assert set(found) == set(rule_shapes.Preview().fields)
    assert [one["owner"] for one in found["exposure"]] == ["olivia"]
    assert before == after


def test_versions_tell_what_each_changed(api_of):
    api = api_of("manager")
    change(api, {"min_runtime": 60}, reason="give them a minute")

    newest = api.get("/resource-groups/gpu/policies").json()[0]

    assert (newest["version"], newest["reason"]) == (2, "give them a minute")
    assert newest["changes"] == {"min_runtime": [0, 60]}


def test_a_change_for_a_while_tells_its_way_back_and_can_be_kept(api_of):
    api = api_of("manager")
    body = {"preemption": {"enabled": False}, "reason": "a quiet night", "for_s": 7200}

    off = api.send("PATCH", PATH, body, If_Match="*").json()
    kept = api.post(f"{PATH}/cancel-planned", {"reason": "it stays quiet"}).json()

    assert (off["version"], off["preemption"]["enabled"]) == (2, False)
    assert (off["planned"]["kind"], off["planned"]["for_s"]) == ("return", 7200)
    assert off["planned"]["preemption"] == {"enabled": True, "state": "on"}
    assert (kept["preemption"]["enabled"], kept["planned"]) == (False, None)


def test_a_change_at_a_time_changes_nothing_yet(api_of):
    api = api_of("manager")
    at = model_factories.ago(-3600).replace(microsecond=0).isoformat().replace("+00:00", "Z")
    body = {"preemption": {"min_runtime": 60}, "reason": "from the new year on", "at": at}

    planned = api.send("PATCH", PATH, body, If_Match="*").json()

    assert (planned["version"], planned["preemption"]["min_runtime"]) == (1, 0)
    assert (planned["planned"]["at"], planned["planned"]["preemption"]) == (at, {"min_runtime": 60})


@pytest.mark.parametrize(
    ("more", "field"),
    [({"at": "2020-01-01T00:00:00Z"}, "at"), ({"for_s": 0}, "for_s"), ({"for_s": "2h"}, "for_s")],
)
def test_a_time_that_cannot_be_is_named(api_of, more, field):
    body = {"preemption": {"enabled": False}, "reason": "a quiet night", **more}

    answer = api_of("manager").send("PATCH", PATH, body, If_Match="*")

    assert (answer.status_code, list(answer.json()["fields"])) == (400, [field])


def test_many_victims_take_the_name_of_the_group_as_confirm(api_of, world, settings):
    settings.CONFIRM_ABOVE_VICTIMS = 0
    fields = {"owner": world.people["owner"], "queue": world.queues["normal"], "group": world.group}
    model_factories.a_session(state="running", job_priority=1, slots={"cuda.device": 4}, **fields)
    model_factories.a_session(job_priority=50, slots={"cuda.device": 2}, **fields)
    api = api_of("manager")
    body = {"preemption": {"min_runtime": 1}, "reason": "a good reason"}

    shown = api.post(f"{PATH}/preview", {"preemption": {"min_runtime": 1}}).json()
    refused = api.send("PATCH", PATH, body, If_Match="*")
    done = api.send("PATCH", PATH, {**body, "confirm": "gpu"}, If_Match="*")

    assert (len(shown["victims"]), shown["needs_confirm"]) == (1, True)
    assert "keeps-memory" in [one["code"] for one in shown["warnings"]]
    assert (refused.status_code, refused.json()["code"], list(refused.json()["fields"])) == (
        400,
        "confirm",
        ["confirm"],
    )
    assert done.status_code == 200


def test_an_old_log_in_switches_nothing_on_by_api_either(client, world):
    model_factories.a_policy_version(world.group, preemption_state="off")
    client.force_login(world.people["manager"])
    session = client.session
    session["xce_proven_at"] = model_factories.ago(86_400).isoformat()
    session.save()

    answer = client.patch(
        f"/api/v1{PATH}",
        {"preemption": {"enabled": True}, "reason": "a good reason"},
        content_type="application/json",
        headers={"If-Match": "*"},
    )

    assert (answer.status_code, answer.json()["code"]) == (403, "log-in-again")


def test_an_undo_names_the_version_that_it_undoes(api_of):
    api = api_of("manager")
    etag = change(api, {"min_runtime": 60})["ETag"]

    late = api.post(f"{PATH}/undo", {"reason": "too early"}, If_Match='"1"')
    done = api.post(f"{PATH}/undo", {"reason": "too early", "only_unacted": True}, If_Match=etag)

    assert (late.status_code, late.json()["code"]) == (412, "precondition-failed")
    assert (done.json()["version"], done.json()["preemption"]["min_runtime"]) == (3, 0)
