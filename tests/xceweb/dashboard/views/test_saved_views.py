"""Saved views on the page of sessions."""

from __future__ import annotations

import html

from django.utils.http import urlencode

from scheduler import models

KEEP = "/sessions/views/"


def test_what_the_filters_show_is_kept_opened_and_removed(world, client_of):
    client = client_of("owner")

    page = client.get("/sessions/", {"state": "pending", "owner": "me"}).content.decode()
    kept = client.post(KEEP, {"name": "my queue", "q": "state:pending user:me"}, follow=True)
    text = kept.content.decode()
    row = models.SavedView.objects.get()
    address = f"/sessions/?{urlencode({'q': row.query})}"

    assert 'name="q" value="state:pending user:me"' in page
    assert f'<a class="facet" href="{html.escape(address)}" aria-current="true">my queue</a>' in text
    assert ("late-work" in text, "high-work" in text) == (True, False)
    removed = client.post(f"{KEEP}{row.public_id}/remove/", {}, follow=True).content.decode()
    assert ("The view my queue is removed" in removed, models.SavedView.objects.count()) == (True, 0)


def test_what_cannot_be_kept_is_said_on_the_page(world, client_of):
    text = client_of("owner").post(KEEP, {"name": "", "q": "state:pending"}, follow=True).content.decode()

    assert ("write 1 to 60 printable characters" in text, models.SavedView.objects.count()) == (True, 0)


def test_a_query_that_cannot_be_read_is_told_at_the_box_and_narrows_nothing(world, client_of):
    text = client_of("owner").get("/sessions/", {"q": "colour:red"}).content.decode()

    assert "knows no field &#x27;colour&#x27;" in text
    assert ("late-work" in text, "high-work" in text) == (True, True)


def test_others_views_are_neither_shown_nor_removed(world, client_of):
    client_of("owner").post(KEEP, {"name": "secret view", "q": "user:me"})
    other = client_of("submitter")

    assert "secret view" not in other.get("/sessions/").content.decode()
    address = f"{KEEP}{models.SavedView.objects.get().public_id}/remove/"
    assert (other.post(address, {}).status_code, models.SavedView.objects.count()) == (404, 1)
