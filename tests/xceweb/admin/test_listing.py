"""What a listing makes of its columns, and what its columns show."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django import urls
from django.test import Client

from scheduler import models
from tests import model_factories, worlds
from xceweb.admin import columns, listing, site


@pytest.mark.parametrize(
    ("model", "column", "join"),
    [
        (models.Session, "name", ""),
        (models.Session, "owner", "owner"),
        (models.PendReason, "session__group", "session__group"),
        (models.Allocation, "session__state", "session"),
        (models.Session, "group__policy__starting", "group__policy"),
    ],
)
def test_a_column_is_read_with_the_rows_that_it_names(model: type, column: str, join: str) -> None:
    """Up to the last one that is a row."""
    made = listing.Listing(model=model, columns=(column,), search=("pk__exact",), searched="numbers")
    own = site.Console()
    listing.register(own, [made])

    assert own._registry[model].list_select_related == ((join,) if join else False)


def test_hidden_and_binary_columns_are_not_shown() -> None:
    """Neither key nor hash."""
    made = listing.Listing(
        model=models.AgentKey, columns=("key_id",), search=("key_id",), searched="keys", hidden=("node",)
    )

    assert listing.shown_fields(made) == ("id", "key_id", "created_at", "revoked_at")


@pytest.mark.django_db
def test_the_switch_is_a_link_with_its_state_in_words() -> None:
    """For every state; a group without rules is off."""
    for state in ("off", "shadow", "on"):
        group = model_factories.a_group(f"of-{state}", preemption_state=state)
        address = urls.reverse("console:group-policy", args=[group.slug])
        assert columns.switch(group).endswith(f'data-lamp="{state}" href="{address}">{state}</a>')

    assert ">off</a>" in columns.switch(models.ResourceGroup(slug="new"))


def test_rows_lead_to_the_product_s_pages(client_of: Callable[[str], Client], world: worlds.World) -> None:
    """Which open."""
    client = client_of("administrator")
    role = models.GroupRole.objects.first()
    addresses = [
        columns.page_of_session(world.running),
        columns.page_of_its_session(world.decision),
        columns.page_of_node(world.node),
        columns.page_of_its_node(world.decision),
        columns.page_of_decision(world.decision),
        columns.page_of_its_decision(world.decision.victims.first()),
        columns.page_of_policy(world.group),
        columns.page_of_its_policy(world.running),
        columns.page_of_roles(role),
        columns.page_of_queues(None),
        columns.page_of_announcements(None),
    ]

    assert {address: client.get(address).status_code for address in addresses} == dict.fromkeys(
        addresses, 200
    )


@pytest.mark.parametrize(("is_active", "word"), [(True, "in force"), (False, "revoked")])
def test_a_keypair_is_in_force_or_revoked(is_active: bool, word: str) -> None:
    """In words."""
    assert columns.keypair_state(models.Keypair(is_active=is_active)) == word


def test_a_command_is_settled_when_it_was_answered() -> None:
    """Or when nobody waits for it."""
    assert not columns.is_settled(models.AgentCommand())
    assert columns.is_settled(models.AgentCommand(settled_at=model_factories.ago(1)))
