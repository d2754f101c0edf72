"""Who may do what in a group, and why."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group as Team

from scheduler import models
from scheduler.selectors import permissions, roles
from tests import worlds

pytestmark = pytest.mark.django_db


@pytest.fixture
def world():
    return worlds.a_world()


def _team(world, name, role, *people):
    team = Team.objects.create(name=name)
    team.user_set.add(*(world.people[person] for person in people))
    models.GroupRole.objects.create(group=world.group, team=team, role=role)


def _told(world, viewer="manager"):
    return {one.username: one for one in roles.of_group(world.people[viewer], world.group).people}


def test_the_rights_that_are_told_are_those_that_are_asked(world):
    rights = {
        "submit": lambda user: permissions.can_submit(user, world.group),
        "act-on-sessions": lambda user: permissions.can_act(user, world.waiting),
        "act-on-nodes": lambda user: permissions.can_act_on_nodes(user, world.group),
        "preview": lambda user: permissions.can_preview(user, world.group),
        "switch": lambda user: permissions.can_change_policy(user, world.group),
        "private-sessions": lambda user: permissions.can_create_private(user, world.group),
    }
    told = _told(world)
    for name in ("viewer", "submitter", "operator", "manager", "administrator"):
        user = world.people[name]
        asked = {right for right, allows in rights.items() if allows(user)}
        assert set(told[user.username].may) - {"see", "give-roles"} == asked, name
    assert "outsider" not in told


def test_the_strongest_role_counts_and_its_sources_are_named(world):
    _team(world, "operations", "manager", "submitter", "manager")
    _team(world, "readers", "viewer", "operator")

    told = _told(world)

    assert {name: (told[name].role, told[name].sources) for name in ("submitter", "manager", "operator")} == {
        "submitter": ("manager", ("team operations",)),
        "manager": ("manager", ("own", "team operations")),
        "operator": ("operator", ("own",)),
    }


def test_who_cannot_log_in_may_nothing(world):
    models.User.objects.filter(pk=world.people["manager"].pk).update(is_active=False)

    assert [one.username for one in roles.everybody(world.group) if roles.SWITCH in one.may] == [
        "administrator"
    ]


def test_others_than_managers_are_told_who_may_switch_and_their_own_role(world):
    listing = roles.of_group(world.people["operator"], world.group)

    assert [one.username for one in listing.people] == ["administrator", "manager", "operator"]
    assert [one.username for one in listing.switchers] == ["administrator", "manager"]
    assert ([one.is_viewer for one in listing.people], listing.is_complete) == ([False, False, True], False)


def test_ten_more_people_cost_no_more_queries(world, django_assert_max_num_queries):
    _team(world, "all", "viewer", *(name for name in world.people))

    with django_assert_max_num_queries(6):
        roles.of_group(world.people["manager"], world.group)
