"""A decision run again for programs."""

from __future__ import annotations

from typing import Any

import pytest
from django import urls
from django.test import Client

from scheduler import models
from scheduler.selectors import stored_rounds
from xceweb.common import pacing


def ask(stored: Any) -> Any:
    """Ask as the owner."""
    client = Client()
    client.force_login(stored.user)
    return client.get(urls.reverse("api:decision-rerun", args=[stored.decision.public_id]))


def test_equal_decisions_are_counted(stored: Any) -> None:
    """With both versions."""
    found = ask(stored).json()

    assert (found["state"], found["is_record_equal"], found["differing"]) == ("equal", True, [])
    assert found["equal"] == found["decisions"] > 0
    assert found["core_then"] == found["core_now"]


def test_differences_name_sessions_nodes_and_victims(stored: Any) -> None:
    """By public ids."""
    row = stored.decision.round
    told = stored_rounds.unpacked(row.outline)
    high = models.Session.objects.get(name="high")
    packed = stored_rounds.packed(
        {**told, "preempt": {}, "dispatch": {str(high.pk): [stored.decision.node_id]}}
    )
    models.Round.objects.filter(pk=row.pk).update(outline=packed)

    found = ask(stored).json()

    (one,) = (one for one in found["differing"] if one["session"] == str(high.public_id))
    assert (found["state"], one["then"]["what"], one["now"]["what"]) == ("differs", "starts", "stops")
    victim = stored.decision.victims.get().session
    assert (one["now"]["nodes"], one["now"]["victims"]) == (["n1"], [str(victim.public_id)])


def test_asked_too_often_it_is_refused_with_the_time_to_wait(
    stored: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As problem+json."""
    monkeypatch.setattr(pacing, "_count", lambda what, user_id: 17)

    answer = ask(stored)

    assert (answer.status_code, answer.json()["code"]) == (429, "too-often")
    assert "wait 17 s" in answer.json()["detail"]
