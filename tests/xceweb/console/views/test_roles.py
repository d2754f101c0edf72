"""The roles tab of a group."""

from __future__ import annotations


def test_a_viewer_reads_who_may_flip_the_switch_and_nothing_of_others(world, client_of):
    text = client_of("viewer").get("/groups/gpu/roles/").content.decode()

    assert "2 people may flip the switch" in text
    assert "olivia" not in text
    assert "Managers see every role" in text


def test_a_manager_reads_every_role(world, client_of):
    text = client_of("manager").get("/groups/gpu/roles/").content.decode()

    assert "olivia" in text
    assert "Managers see every role" not in text


def test_the_tab_is_reached_from_the_group(world, client_of):
    assert 'href="/groups/gpu/roles/"' in client_of("viewer").get("/groups/gpu/").content.decode()
