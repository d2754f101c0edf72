"""The page of announcements, and what everybody reads above theirs."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django import urls
from django.test import Client

from scheduler import models
from tests import worlds
from xceweb.console.views import announcements

ADDRESS = "/announcements/"


@pytest.mark.parametrize("reader", ["viewer", "outsider", "administrator"])
def test_what_is_announced_stands_above_everybody_s_pages(
    client_of: Callable[[str], Client], world: worlds.World, reader: str
) -> None:
    """As text, whatever it holds, until it is ended."""
    admin = client_of("administrator")
    said = admin.post(ADDRESS, {"text": "Down at <b>noon</b>", "tone": "warning", "lasts": "24"}, follow=True)
    assert "Everybody reads it from their next page on." in said.content.decode()

    above = client_of(reader).get("/queues/").content.decode()
    assert "<p>Down at &lt;b&gt;noon&lt;/b&gt;</p>" in above

    row = models.Announcement.objects.get()
    assert row.until is not None
    assert (row.until - row.made_at).days == 1
    address = urls.reverse("console:announcement-end", args=[row.pk])
    assert (
        "Nobody reads it any more." in admin.post(address, {"reason": "over"}, follow=True).content.decode()
    )
    assert "it is ended already" in admin.post(address, {}, follow=True).content.decode()
    assert "Down at" not in client_of(reader).get("/queues/").content.decode()


def test_what_the_service_refuses_stands_at_its_field(
    client_of: Callable[[str], Client], world: worlds.World
) -> None:
    """The form keeps what was written."""
    admin = client_of("administrator")
    for _ in range(3):
        admin.post(ADDRESS, {"text": "again", "tone": "info"})

    answer = admin.post(ADDRESS, {"text": "a fourth", "tone": "info"})

    assert answer.status_code == 422
    assert "3 announcements stand already: end one first" in answer.content.decode()
    assert "a fourth</textarea>" in answer.content.decode()
    assert announcements.AnnouncementForm({"text": "x", "tone": "info", "lasts": ""}).is_valid()
