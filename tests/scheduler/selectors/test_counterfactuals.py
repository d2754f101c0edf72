"""What would have been otherwise, from stored rounds and the present state, for one viewer."""

from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Iterator
from typing import Any

import pytest

from scheduler import models
from scheduler.core.counterfactuals import answers, reruns, victims, waiting
from scheduler.plugins import pool
from scheduler.selectors import counterfactuals
from scheduler.services import rounds
from tests import model_factories, plugin_packages, worlds

K, STATE = answers.Kind, counterfactuals.State


def hold(world: worlds.World, who: str = "owner", gpus: int = 4, **fields: Any) -> models.Session:
    """Let somebody's session run on GPUs of the node."""
    values = {"queue": world.queues["normal"], "group": world.group, "slots": {"cuda.device": gpus}}
    return model_factories.a_session(owner=world.people[who], state="running", **{**values, **fields})


def wait(world: worlds.World, who: str = "owner", gpus: int = 4, **fields: Any) -> models.Session:
    """Let somebody's session wait for GPUs of the node."""
    values = {"queue": world.queues["normal"], "group": world.group, "slots": {"cuda.device": gpus}}
    return model_factories.a_session(owner=world.people[who], **{**values, **fields})


def stopped(world: worlds.World) -> models.Victim:
    """Let a real round stop the owner's low session for a high one."""
    low = hold(world, job_priority=5)
    wait(world, job_priority=20)
    models.GroupRounds.objects.filter(group=world.group).update(last_number=world.decision.round.number)
    rounds.run_group_round(world.group.pk)
    return models.Victim.objects.get(session=low)


def by_kind(told: counterfactuals.Told) -> dict[answers.Kind, answers.Counterfactual]:
    """Return the answers by kind."""
    return {one.kind: one for one in told.answers}


def test_a_victim_reads_what_would_have_spared_it_from_the_stored_round(world: worlds.World) -> None:
    """The round as it was, whatever is now."""
    victim = stopped(world)
    models.Session.objects.filter(pk=victim.session_id).update(job_priority=99)

    told = counterfactuals.for_victim(world.people["owner"], victim)

    assert (told.state, told.is_complete) == (STATE.FOUND, True)
    assert by_kind(told)[K.SPARED_JOB_PRIORITY].facts == {"own": 5, "value": 20}
    assert by_kind(told)[K.SPARED_OPT_OUT].helps


def test_without_the_snapshot_nothing_is_computed(world: worlds.World) -> None:
    """Snapshots are not kept for ever."""
    victim = world.decision.victims.get()

    assert counterfactuals.for_victim(world.people["owner"], victim) == counterfactuals.Told(STATE.NOT_KEPT)


def test_a_round_that_comes_out_otherwise_today_is_said_so(
    world: worlds.World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another version of the core would stop nobody."""
    victim = stopped(world)
    monkeypatch.setattr(reruns.preview, "collect", lambda view, **more: [])

    assert counterfactuals.for_victim(world.people["owner"], victim).state == STATE.DIFFERS


def test_a_waiting_session_reads_what_would_help_now(world: worlds.World) -> None:
    """On the state of now."""
    hold(world, "submitter", gpus=2, queue=world.queues["background"])

    told = counterfactuals.for_waiting(world.people["owner"], wait(world))

    less = by_kind(told)[K.STARTS_WITH_LESS]
    assert (less.facts["value"], less.facts["asked"]) == (2, 4)


def test_no_priority_above_the_sessions_cap_is_tried(world: worlds.World) -> None:
    """What a person may not set is no help."""
    hold(world, "submitter", queue=world.queues["background"], priority=50)
    session = wait(world, queue=world.queues["urgent"], priority_cap=40)

    found = by_kind(counterfactuals.for_waiting(world.people["owner"], session))[K.HIGHER_PRIORITY]

    assert (found.helps, found.facts["most"]) == (False, 40)


def protected(world: worlds.World, **fields: Any) -> models.Session:
    """Let an urgent session wait behind a lower one that the minimum runtime protects."""
    rules = {"preemption_state": "on", "preemption_min_runtime": 600}
    model_factories.a_policy_version(world.group, **rules)
    hold(world, "submitter", queue=world.queues["background"], priority=5, **fields)
    return wait(world, queue=world.queues["urgent"], priority=50)


def test_the_first_moment_of_a_protected_session_that_the_viewer_sees(world: worlds.World) -> None:
    """Its start plus the minimum runtime."""
    session = protected(world)

    found = by_kind(counterfactuals.for_waiting(world.people["owner"], session))[K.FIRST_ELIGIBLE]

    assert (found.helps, found.facts["outcome"], found.facts["victims"]) == (True, "stops", 1)


def test_who_sees_no_other_session_learns_nothing_of_one(world: worlds.World) -> None:
    """An owner whose role in the group has ended: neither moments, nor ranks, nor whom the switch would stop."""
    session = protected(world)
    models.GroupRole.objects.filter(user=world.people["owner"]).delete()

    told = counterfactuals.for_waiting(models.User.objects.get(pk=world.people["owner"].pk), session)

    assert all(one.rests_on <= {session.pk} for one in told.answers)
    assert K.FIRST_ELIGIBLE not in by_kind(told)


def test_a_private_session_ahead_gives_no_rank_away(world: worlds.World) -> None:
    """Its priority is the manager's to know."""
    private = {"is_private": True, "priority": 30, "queue": world.queues["background"]}
    wait(world, "manager", **private)
    session = wait(world, "submitter", gpus=4, priority=10)

    owners = by_kind(counterfactuals.for_waiting(world.people["submitter"], session))
    managers = by_kind(counterfactuals.for_waiting(world.people["manager"], session))

    assert not {K.HIGHER_PRIORITY, K.PRIORITY_AT_CAP} & set(owners)
    assert managers[K.HIGHER_PRIORITY].facts["value"] == 31


def test_the_rank_of_others_in_the_line_is_read_off_nothing(world: worlds.World) -> None:
    """A submitter sees that they wait, not their priority: he is told of the cap alone; operators of the least."""
    wait(world, "manager", priority=30)
    session = wait(world, "submitter", priority=10, priority_cap=60)

    submitters = by_kind(counterfactuals.for_waiting(world.people["submitter"], session))
    operators = by_kind(counterfactuals.for_waiting(world.people["operator"], session))

    assert submitters[K.PRIORITY_AT_CAP].facts["value"] == 60
    assert K.HIGHER_PRIORITY not in submitters
    assert operators[K.HIGHER_PRIORITY].facts["value"] == 31
    assert K.PRIORITY_AT_CAP not in operators


@pytest.mark.parametrize("module", [victims, waiting])
def test_whatever_goes_wrong_inside_is_said_and_raises_nothing(
    world: worlds.World, monkeypatch: pytest.MonkeyPatch, module: Any
) -> None:
    """A page that explains stands also when one explanation fails."""

    def fail(*args: Any, **more: Any) -> None:
        raise ZeroDivisionError

    victim = stopped(world)
    for name in ("spared", "would_help"):
        if hasattr(module, name):
            monkeypatch.setattr(module, name, fail)

    of_victim = counterfactuals.for_victim(world.people["owner"], victim)
    of_waiting = counterfactuals.for_waiting(world.people["owner"], world.waiting)

    assert STATE.FAILED in (of_victim.state, of_waiting.state)


def test_time_that_is_up_ends_it_with_what_was_found(
    world: worlds.World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reader waits no longer than that."""
    monkeypatch.setattr(counterfactuals, "MOST_S", 0.0)

    told = counterfactuals.for_waiting(world.people["owner"], world.waiting)

    assert told == counterfactuals.Told(STATE.FOUND, (), is_complete=False)


def test_nothing_is_written(world: worlds.World) -> None:
    """Neither a round, nor a decision, nor a reason."""
    victim = stopped(world)
    before = _counts()

    counterfactuals.for_victim(world.people["owner"], victim)
    counterfactuals.for_waiting(world.people["owner"], world.waiting)

    assert _counts() == before


def _counts() -> list[int]:
    tables = (models.Round, models.Decision, models.Event, models.PendReason, models.AgentCommand)
    return [table.objects.count() for table in tables]


def test_an_answer_is_a_value() -> None:
    """So that a page may keep it."""
    told = counterfactuals.Told(STATE.FOUND)

    with pytest.raises(dataclasses.FrozenInstanceError):
        told.state = STATE.FAILED  # type: ignore[misc]


# Policies of other packages


@pytest.fixture
def site(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[pathlib.Path]:
    """Return where packages are installed; their processes end with the test."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(counterfactuals, "MOST_S", 60.0)
    yield tmp_path
    pool.SHARED.close()


#: Stops one of the least priority.
LEAST = """
def choose(problem):
    found = [(c.value, t.node_id, c.session_id) for t in problem.targets for c in t.candidates]
    value, node_id, session_id = min(found)
    return node_id, [session_id]
"""
BROKEN = "def choose(problem):\n    raise LookupError('secret')"


def install(site: pathlib.Path, world: worlds.World, code: str) -> None:
    """Install the policy `odd`, and let the urgent queue choose by it."""
    plugin_packages.install(site, "odd_one", {"odd": "choose"}, code=code)
    models.Queue.objects.filter(slug="urgent").update(preempt_policy="odd")


def stopped_by_odd(world: worlds.World) -> models.Victim:
    """Let a round stop a background session by that policy."""
    low = hold(world, queue=world.queues["background"], priority=5)
    wait(world, "submitter", queue=world.queues["urgent"], priority=20)
    models.GroupRounds.objects.filter(group=world.group).update(last_number=world.decision.round.number)
    rounds.run_group_round(world.group.pk)
    victim = models.Victim.objects.get(session=low)
    assert victim.decision.policy_name == "odd"
    return victim


def test_a_foreign_policy_is_asked_again_and_nothing_but_what_was_tried_is_said(
    world: worlds.World, site: pathlib.Path
) -> None:
    """In its guarded process; no range of values, since nothing is proved of it."""
    install(site, world, LEAST)
    victim = stopped_by_odd(world)

    told = counterfactuals.for_victim(world.people["administrator"], victim)

    assert (told.state, told.policies) == (STATE.FOUND, ("odd",))
    assert by_kind(told)[K.SPARED_PRIORITY].facts == {"own": 5, "value": 20, "most": 20}
    assert by_kind(told)[K.SPARED_OPT_OUT].helps


def test_a_waiting_session_is_answered_by_the_policy_of_its_queue(
    world: worlds.World, site: pathlib.Path
) -> None:
    """Not by that of the core."""
    install(site, world, LEAST)
    hold(world, "submitter", queue=world.queues["background"], priority=30)
    session = wait(world, queue=world.queues["urgent"], priority=10)

    told = counterfactuals.for_waiting(world.people["administrator"], session)

    assert by_kind(told)[K.HIGHER_PRIORITY].facts["value"] == 31
    assert told.policies == ("odd",)
    assert all(one.helps for one in told.answers if one.kind is K.STARTS_WITH_LESS)


def test_a_foreign_policy_that_fails_gives_no_answer_at_all(world: worlds.World, site: pathlib.Path) -> None:
    """That it failed is no sign that nothing would help."""
    install(site, world, BROKEN)
    hold(world, "submitter", queue=world.queues["background"], priority=5)
    session = wait(world, queue=world.queues["urgent"], priority=10)

    told = counterfactuals.for_waiting(world.people["administrator"], session)

    assert told == counterfactuals.Told(STATE.POLICY, policies=("odd",))
    assert counterfactuals.weighed(session) is None


def test_a_foreign_policy_that_is_gone_is_said_where_the_round_was_decided_by_it(
    world: worlds.World, site: pathlib.Path
) -> None:
    """It is not the version of the core that differs."""
    install(site, world, LEAST)
    victim = stopped_by_odd(world)
    plugin_packages.uninstall(site, "odd_one")

    told = counterfactuals.for_victim(world.people["administrator"], victim)

    assert told == counterfactuals.Told(STATE.POLICY, policies=("odd",))


def test_where_a_policy_is_not_installed_the_present_is_that_it_stops_nobody(
    world: worlds.World, site: pathlib.Path
) -> None:
    """A smaller request is found all the same."""
    models.Queue.objects.filter(slug="urgent").update(preempt_policy="odd")
    hold(world, "submitter", gpus=2, queue=world.queues["background"], priority=5)

    told = counterfactuals.for_waiting(
        world.people["administrator"], wait(world, queue=world.queues["urgent"], priority=10)
    )

    assert by_kind(told)[K.STARTS_WITH_LESS].facts["value"] == 2
    assert told.state == STATE.FOUND
