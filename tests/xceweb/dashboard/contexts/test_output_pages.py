"""The whole output of a session, page by page, for those who may look inside."""

from __future__ import annotations

import pytest
from django.utils import timezone

from scheduler import models
from scheduler.services import commands, output_pages
from tests import model_factories, worlds

STEP = output_pages.PAGE_BYTES


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Collect the offsets that are asked of nodes."""
    found: list[int] = []
    monkeypatch.setattr(commands, "send_directly", lambda node, message: found.append(message.offset))
    return found


@pytest.fixture
def address(world: worlds.World) -> str:
    """The output of a session that has written a hundred thousand bytes."""
    model_factories.an_output(world.running, "last \x1b[31mlines", size=100_000)
    return f"/sessions/{world.running.public_id}/output/"


def come(**facts: object) -> None:
    models.OutputPage.objects.update(came_at=timezone.now(), **facts)


def test_the_last_lines_show_control_characters_and_lead_to_what_was_before(
    client_of, address, asked
) -> None:
    page = client_of("owner").get(address).content.decode()

    assert "last \u241b[31mlines" in page
    assert f'href="{address}?offset={100_000 - 8192 - STEP}"' in page
    assert asked == []


def test_a_page_is_asked_for_looked_for_again_and_shown_when_it_has_come(client_of, address, asked) -> None:
    client = client_of("owner")
    waiting = client.get(f"{address}?offset=40000").content.decode()
    assert "Asked the node for the bytes from 40000" in waiting
    assert f'hx-get="{address}?part=output&amp;offset=40000" hx-trigger="every 2s"' in waiting

    come(text="<b>\x07", next_offset=50_000, size=100_000)
    shown = client.get(f"{address}?offset=40000").content.decode()

    assert "&lt;b&gt;\u2407" in shown
    assert "Bytes 40000 to 50000 of 100000" in shown
    assert f'href="{address}?offset={40_000 - STEP}"' in shown
    assert f'href="{address}?offset=50000"' in shown
    assert "every 2s" not in shown
    assert asked == [40_000]


def test_the_last_page_leads_to_the_last_lines_and_the_first_nowhere_before(
    client_of, address, asked
) -> None:
    client_of("owner").get(f"{address}?offset=0")
    come(text="all", next_offset=100_000, size=100_000)
    shown = client_of("owner").get(f"{address}?offset=0").content.decode()

    assert ">Earlier<" not in shown
    assert f'href="{address}">Later<' in shown


def test_output_that_is_gone_is_said_to_be(client_of, address, asked) -> None:
    client_of("owner").get(f"{address}?offset=0")
    come(is_gone=True)

    assert (
        "does not keep this output any more" in client_of("owner").get(f"{address}?offset=0").content.decode()
    )


@pytest.mark.parametrize("who", ["operator", "submitter"])
def test_who_may_not_look_inside_asks_for_nothing(client_of, address, asked, who) -> None:
    client_of(who).get(f"{address}?offset=0")

    assert asked == []
    assert not models.OutputPage.objects.exists()


@pytest.mark.parametrize("offset", ["-1", "x", str(2**70)])
def test_an_offset_that_is_none_shows_the_last_lines(client_of, address, asked, offset) -> None:
    assert "last " in client_of("owner").get(f"{address}?offset={offset}").content.decode()
    assert asked == []


def test_of_a_session_on_several_nodes_each_nodes_output_can_be_chosen(
    client_of, world, address, asked
) -> None:
    world.running.runs.update(node_names=["n1", "n2"])
    models.RankOutput.objects.create(
        session=world.running, attempt=1, rank=1, tail="of the second", size=20_000, updated_at=timezone.now()
    )
    client = client_of("owner")
    first, second = (client.get(f"{address}{more}").content.decode() for more in ("", "?rank=1"))
    page = client.get(f"{address}?offset=7&rank=1").content.decode()

    assert f'href="{address}" aria-current="true">n1</a>' in first
    assert f'href="{address}?rank=1">n2</a>' in first
    assert "of the second" in second
    assert "of the second" not in first
    assert f'href="{address}?offset=0&amp;rank=1">Earlier' in second
    assert f'hx-get="{address}?part=output&amp;rank=1&amp;offset=7"' in page
    assert models.OutputPage.objects.get().rank == 1


def test_of_a_session_on_one_node_there_is_nothing_to_choose(client_of, address) -> None:
    assert "Node whose output is shown" not in client_of("owner").get(address).content.decode()
