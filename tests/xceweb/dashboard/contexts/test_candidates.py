"""How long each candidate had run when the decision was made."""

from __future__ import annotations

import dataclasses
import json
import zlib

from scheduler import models
from scheduler.core import entities, resources, snapshot, states
from scheduler.selectors import decisions, stored_rounds
from scheduler.selectors import snapshot as snapshots
from tests import worlds
from xceweb.dashboard.contexts import decision_page, session_seen, why_preempted

MINUTE = 60_000_000


def _session(pk: int, started_at: int | None) -> entities.Session:
    state = states.SessionState.PENDING if started_at is None else states.SessionState.RUNNING
    return entities.Session(pk, 1, 1, state, resources.EMPTY, 0, started_at=started_at)


def _keep_snapshot(world: worlds.World) -> None:
    """Store the round's snapshot as rounds do: the victim had run 90 s by then."""
    whole = snapshots.load_snapshot(world.group).snapshot
    sessions = (_session(world.victim.pk, whole.now - 3 * MINUTE // 2), _session(world.waiting.pk, None))
    plain = snapshot.canonical(dataclasses.replace(whole, sessions=sessions))
    packed = zlib.compress(json.dumps(plain).encode())
    models.Round.objects.filter(pk=world.decision.round_id).update(snapshot=packed)


def test_the_snapshot_says_how_long_each_session_had_run(world: worlds.World) -> None:
    """Whole seconds; who had not started is left out, and so is everybody when it is no longer kept."""
    _keep_snapshot(world)

    assert stored_rounds.ran_s(stored_rounds.plain_snapshot(world.decision)) == {world.victim.pk: 90}
    assert stored_rounds.ran_s(None) == {}


def test_both_tables_of_candidates_show_it(world: worlds.World) -> None:
    """On the decision's page and on the victim's; a dash where nobody knows."""
    before = _shown(world)
    _keep_snapshot(world)

    assert (before, _shown(world)) == ((None, None), (90, 90))


def _shown(world: worlds.World) -> tuple[int | None, int | None]:
    owner = world.people["owner"]
    page = decision_page.load(owner, decisions.require(owner, world.decision.public_id))
    row = models.Session.objects.select_related("group__policy", "queue", "owner").get(pk=world.victim.pk)
    seen = session_seen.look(owner, row)
    why = why_preempted.load(seen, seen.stops[0])
    return tuple(
        nodes[0]["candidates"][0]["had_run_s"]
        for nodes in (page["candidates"]["nodes"], why["others"]["nodes"])
    )
