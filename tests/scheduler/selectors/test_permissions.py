"""Who may see and do what: the table of DESIGN section 9, for every role."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import AnonymousUser, Group

from scheduler import errors, models
from scheduler.selectors import permissions
from tests import model_factories

SIGHTS = {
    "anonymous": "NONE",
    "outsider": "NONE",
    "viewer": "SUMMARY",
    "submitter": "SUMMARY",
    "operator": "OPERATIONS",
    "manager": "OPERATIONS",
    "owner": "FULL",
    "administrator": "FULL",
}
PRIVATE = SIGHTS | {"viewer": "NONE", "submitter": "NONE", "operator": "NONE"}


@pytest.fixture
def person(world):
    """Return a person of the world by name; nobody who is logged in for ``anonymous``."""
    return lambda name: world.people.get(name) or AnonymousUser()


@pytest.mark.parametrize(("name", "sight"), SIGHTS.items())
def test_how_much_of_a_session_somebody_sees(world, person, name, sight):
    assert permissions.sight(person(name), world.running).name == sight


@pytest.mark.parametrize(("name", "sight"), PRIVATE.items())
def test_a_private_session_is_the_managers_and_its_owners(world, person, name, sight):
    models.Session.objects.filter(pk=world.running.pk).update(is_private=True)
    session = models.Session.objects.get(pk=world.running.pk)

    assert permissions.sight(person(name), session).name == sight


@pytest.mark.parametrize("is_private", [False, True])
@pytest.mark.parametrize("name", SIGHTS)
def test_what_a_list_shows_and_what_a_look_shows_agree(world, person, name, is_private):
    models.Session.objects.update(is_private=is_private)
    seen = set(permissions.visible_sessions(person(name)))

    looked = {
        session
        for session in models.Session.objects.all()
        if permissions.sight(person(name), session) > permissions.Sight.NONE
    }

    assert seen == looked


RIGHTS = {
    "anonymous": "",
    "outsider": "",
    "viewer": "see",
    "submitter": "see submit",
    "operator": "see submit act preview nodes",
    "manager": "see submit act preview nodes change private",
    "administrator": "see submit act preview nodes change private",
}


@pytest.mark.parametrize(("name", "rights"), RIGHTS.items())
def test_what_each_role_may_do_in_its_group(world, person, name, rights):
    user, group = person(name), world.group
    may = {
        "see": permissions.visible_groups(user).filter(pk=group.pk).exists(),
        "submit": permissions.can_submit(user, group, world.queues["normal"]),
        "act": permissions.can_act(user, world.running),
        "preview": permissions.can_preview(user, group),
        "nodes": permissions.can_act_on_nodes(user, group),
        "change": permissions.can_change_policy(user, group),
        "private": permissions.can_create_private(user, group),
    }

    assert " ".join(right for right, is_allowed in may.items() if is_allowed) == rights


def test_the_owner_may_act_whatever_the_role(world):
    models.GroupRole.objects.filter(user=world.people["owner"]).delete()

    assert permissions.can_act(world.people["owner"], world.running)


def test_what_may_not_be_seen_is_not_found_and_what_may_not_be_done_is_refused(world):
    with pytest.raises(errors.NotVisible):
        permissions.require_session(world.people["outsider"], world.running.public_id)
    with pytest.raises(errors.NotVisible):
        permissions.require_group(world.people["outsider"], world.group.slug)
    with pytest.raises(errors.NotAllowed, match="You may not dance"):
        permissions.require(False, "dance")

    found = permissions.require_session(world.people["viewer"], world.running.public_id)
    assert found == world.running


def test_a_role_of_a_team_counts_and_the_stronger_one_wins(world):
    team = Group.objects.create(name="operators")
    world.people["viewer"].groups.add(team)
    models.GroupRole.objects.create(group=world.group, team=team, role="operator")

    assert permissions.role_in(world.people["viewer"], world.group) == "operator"


def test_a_deactivated_person_has_nothing_left(world):
    for name in ("owner", "manager", "administrator"):
        user = world.people[name]
        user.is_active = False

        assert not permissions.visible_sessions(user).exists()
        assert not permissions.can_change_policy(user, world.group)


def test_nodes_and_queues_are_those_of_visible_groups(world):
    node = model_factories.a_node("far", group=world.elsewhere)
    outsider = world.people["outsider"]

    assert list(permissions.visible_nodes(outsider)) == [node]
    assert [queue.slug for queue in permissions.visible_queues(outsider)] == ["other"]


def test_a_queue_with_named_submitters_takes_no_others(world):
    queue, submitter = world.queues["normal"], world.people["submitter"]
    queue.submit_users.add(world.people["owner"])

    assert permissions.can_submit(world.people["owner"], world.group, queue)
    assert not permissions.can_submit(submitter, world.group, queue)
    assert permissions.can_submit(world.people["administrator"], world.group, queue)
    queue.submit_teams.add(team := Group.objects.create(name="team"))
    submitter.groups.add(team)
    assert permissions.can_submit(submitter, world.group, queue)
