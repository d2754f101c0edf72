"""People, their policies and roles: who may change them, each change audited (P05)."""

from __future__ import annotations

import contextlib

import pytest

from scheduler import errors, models
from scheduler.services import actors, audit, checks, people, work
from tests import model_factories


def _as(user):
    return actors.of_user(user, request_id="r-1")


@pytest.fixture
def cluster(make_cluster):
    return make_cluster()


def test_a_person_can_be_created_and_logs_in(cluster):
    user = people.create_user(_as(cluster.admin), "carol", password="a long password")

    assert user.check_password("a long password")
    change = models.ConfigChange.objects.get(object_name="carol")
    assert (change.actor_name, change.request_id, change.object_type) == ("root", "r-1", "person")


def test_a_name_that_is_taken_is_refused(cluster):
    with pytest.raises(errors.Refusal, match="there is a person 'alice' already"):
        people.create_user(_as(cluster.admin), "alice", password="a long password")


def test_a_policy_that_cannot_be_is_refused_by_field(cluster):
    with pytest.raises(errors.Refusal) as caught:
        people.create_resource_policy(_as(cluster.admin), "vast", max_priority=-1)

    assert "max_priority" in caught.value.fields
    assert not models.ConfigChange.objects.filter(object_name="vast").exists()


def test_only_an_administrator_makes_people_and_policies(cluster):
    for call in (
        lambda: people.create_user(_as(cluster.alice), "dave", password="a long password"),
        lambda: people.create_resource_policy(_as(cluster.alice), "mine"),
    ):
        with pytest.raises(errors.NotAllowed):
            call()


def test_p05_a_role_is_replaced_and_both_values_are_audited(cluster):
    people.set_role(_as(cluster.admin), cluster.group, "operator", user=cluster.alice)

    change = models.ConfigChange.objects.get(object_type="role")
    assert (change.before, change.after) == ({"role": "submitter"}, {"role": "operator"})
    assert models.GroupRole.objects.get(user=cluster.alice).role == "operator"


def test_a_manager_gives_roles_of_its_group_alone(cluster):
    manager = model_factories.a_user("mona", group=cluster.group, role="manager")
    elsewhere = model_factories.a_group("elsewhere")

    people.set_role(_as(manager), cluster.group, "viewer", user=cluster.bob)
    with pytest.raises(errors.NotAllowed):
        people.set_role(_as(manager), elsewhere, "viewer", user=cluster.bob)


@pytest.mark.parametrize("role", ["king", ""])
def test_an_unknown_role_is_refused(cluster, role):
    with pytest.raises(errors.Refusal, match="a role"):
        people.set_role(_as(cluster.admin), cluster.group, role, user=cluster.bob)


def test_the_machine_may_what_administrators_may():
    checks.require_administrator(actors.SYSTEM, "anything")


def test_p05_a_change_that_fails_leaves_no_audit_row(cluster):
    with contextlib.suppress(errors.Refusal), work.begin(_as(cluster.admin)) as unit:
        audit.record_change(unit, audit.Subject("x", "y"), before={}, after={})
        raise errors.Refusal("no")

    assert not models.ConfigChange.objects.filter(object_type="x").exists()
