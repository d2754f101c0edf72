"""The button that runs a decision again: equal, both versions side by side, or why not; and nothing is changed."""

from __future__ import annotations

from typing import Any

import pytest
from django import db
from django.test import Client

from scheduler import core, models
from scheduler.core import outlines
from scheduler.selectors import replays, stored_rounds
from tests import worlds
from xceweb.common import pacing
from xceweb.dashboard.contexts import rerun


def press(stored: Any, **headers: str) -> str:
    """Press the button as the owner; return what the page then says."""
    client = Client(headers=headers)
    client.force_login(stored.user)
    answer = client.post(f"/decisions/{stored.decision.public_id}/re-run/")
    assert answer.status_code == 200
    return answer.content.decode()


def another_outline(decision: models.Decision) -> None:
    """Let the round have been stored as if the middle session had started elsewhere."""
    row = decision.round
    told = stored_rounds.unpacked(row.outline)
    middle = models.Session.objects.get(name="middle").pk
    packed = stored_rounds.packed({**told, "pend": {}, "dispatch": {str(middle): [stored_node()]}})
    models.Round.objects.filter(pk=row.pk).update(outline=packed)


def stored_node() -> int:
    """Return the one node."""
    return models.Node.objects.get().pk


def test_the_same_version_decides_the_same(stored: Any) -> None:
    """Counted, and the record word for word."""
    found = rerun.run(stored.user, stored.decision)

    assert (found.state, found.is_same_version, found.is_record_equal) == ("equal", True, True)
    assert found.equal == found.total > 0
    text = press(stored, **{"HX-Request": "true"})
    assert (
        f"Equal: {found.total} of {found.total} decisions of that round, as far as you may see them," in text
    )
    assert "<html" not in text


def test_without_scripts_the_whole_page_comes_back_with_the_answer(stored: Any) -> None:
    """The form works by itself, and its page does not lead to itself."""
    text = press(stored)

    assert "<html" in text
    assert "Equal: " in text
    assert "Open decision" not in text


def test_another_version_shows_both(stored: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Side by side, by name."""
    another_outline(stored.decision)
    monkeypatch.setattr(core, "CORE_VERSION", "999")

    stored.decision.refresh_from_db()
    shown = rerun.load(stored.user, stored.decision)

    assert "Not equal: " in shown["sentence"]
    assert shown["sentence"].endswith(f"Core version {stored.decision.round.core_version} then, 999 now.")
    assert "both are shown" in shown["note"]
    assert ("starts on n1", "waits") in [(row["then"], row["now"][:5]) for row in shown["rows"]]
    assert {row["label"] for row in shown["rows"]} <= {"low", "middle", "high"}


def test_the_same_version_that_decides_otherwise_is_a_defect(stored: Any) -> None:
    """And said as such, but not where a policy of another package took part."""
    another_outline(stored.decision)
    found = rerun.run(stored.user, stored.decision)

    assert "tell an administrator" in rerun.note(found)
    foreign = rerun.dataclasses.replace(found, foreign=("newest_first",))
    assert "newest_first" in rerun.note(foreign)
    assert "administrator" not in rerun.note(foreign)


def test_what_is_no_longer_kept_is_said(stored: Any) -> None:
    """The decision stays."""
    models.Round.objects.update(snapshot=None)

    text = press(stored)

    assert "It was not run: the snapshot of round" in text


def test_whoever_asks_too_often_reads_how_long_to_wait(stored: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the page, which stands."""
    monkeypatch.setattr(pacing, "_count", lambda what, user_id: 17)

    assert "wait 17 s" in press(stored, **{"HX-Request": "true"})


def test_the_database_lets_a_re_run_write_nothing(stored: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the code does; afterwards the connection writes again."""

    def write(row: models.Round) -> None:
        models.Event.objects.all().delete()

    monkeypatch.setattr(replays, "replay", write)

    with pytest.raises(db.InternalError, match="read-only"):
        replays.replay_only_reading(stored.decision.round)
    models.Session.objects.update(priority=7)


def test_others_read_no_headline_that_is_not_theirs(stored: Any) -> None:
    """Only that the preemptor waits, without a name."""
    viewer = models.User.objects.create_user("viewer")
    row = rerun.Row(
        stored.decision.session_id,
        outlines.Told("waits", reason="owner-limit"),
        outlines.Told("starts", (stored_node(),)),
    )
    other = rerun.Row(0, outlines.Told("waits", reason="held"), None)
    found = rerun.Rerun(rerun.State.DIFFERS, rows=(row, other))

    shown = rerun.readable(stored.decision, found, rerun.explanations.others(viewer, {row.session_id}))

    assert [(one.session_id, one.then.reason if one.then else "") for one in shown] == [(row.session_id, "")]


def test_a_session_page_has_the_button_too_and_keeps_its_link(world: worlds.World) -> None:
    """The fragment that comes back leads to the decision again."""
    client = Client(headers={"HX-Request": "true"})
    client.force_login(world.people["owner"])
    address = f"/decisions/{world.decision.public_id}/re-run/"

    page = client.get(f"/sessions/{world.victim.public_id}/preempted/").content.decode()
    answer = client.post(address, {"is_linked": "1"}).content.decode()

    assert f'hx-post="{address}"' in page
    assert f"Open decision {world.decision.pk:,}" in answer
