"""The session page's parts: rail, tabs, explanations, actions."""

from __future__ import annotations

import datetime
from typing import Any

import pytest
from django.utils import timezone

from scheduler import clock, models
from scheduler.core import decisions as core_decisions
from scheduler.selectors import explanations, slot_kinds
from tests import decision_factories, model_factories, worlds
from xceweb.dashboard.contexts import (
    actions,
    candidates,
    preemption_aftermath,
    preemption_rule,
    session_header,
    session_page,
    session_seen,
    session_tabs,
    why_other,
    why_pending,
    why_preempted,
    words,
)


def look(world: worlds.World, session: models.Session, who: str = "owner") -> session_seen.Seen:
    """Return the session as one person sees it."""
    session = models.Session.objects.select_related("group__policy", "queue", "owner").get(pk=session.pk)
    return session_seen.look(world.people[who], session)


def test_the_rail_tells_the_states_in_order(world: worlds.World) -> None:
    """The last step is where it is now."""
    rail = session_header.rail(look(world, world.victim))

    assert [step["word"] for step in rail] == ["Submitted", "Preempted", "Suspended"]
    assert [step["is_current"] for step in rail] == [False, False, True]


def test_a_long_rail_is_folded_in_its_middle(world: worlds.World) -> None:
    """The first and the last ones stay."""
    for state in ("scheduled", "running", "preempted", "suspended") * 3:
        model_factories.an_event(f"session.{state}", session=world.victim, data={"state": state})

    rail = session_header.rail(look(world, world.victim))

    assert len(rail) == 7
    assert (rail[0]["word"], rail[1]["word"], rail[-1]["word"]) == ("Submitted", "9 more", "Suspended")


def test_the_tabs_of_a_summary_are_few(world: worlds.World) -> None:
    """Nothing leads to what is hidden."""
    labels = {
        who: [tab["label"] for tab in session_page.load(look(world, world.victim, who), "")["tabs"]]
        for who in ("viewer", "operator")
    }

    assert labels["viewer"] == ["Why", "Time line"]
    assert labels["operator"] == ["Why", "Time line", "Output", "Runs", "Facts"]


@pytest.mark.parametrize(
    ("state", "is_held", "keys"),
    [
        ("pending", False, ["change", "hold", "cancel"]),
        ("pending", True, ["change", "release", "cancel"]),
        ("running", False, ["change", "suspend", "requeue", "cancel"]),
        ("suspended", True, ["change", "release", "requeue", "cancel"]),
        ("preempted", False, ["change", "cancel"]),
        ("terminating", False, ["change"]),
        ("terminated", False, []),
    ],
)
def test_actions_are_those_that_the_state_allows(
    world: worlds.World, state: str, is_held: bool, keys: list[str]
) -> None:
    """In the order of the page."""
    world.waiting.state, world.waiting.is_held = state, is_held

    assert [action["key"] for action in actions.of(world.people["owner"], world.waiting)] == keys
    assert actions.of(world.people["submitter"], world.waiting) == []


def test_the_time_line_has_delays(world: worlds.World) -> None:
    """From each step to the next, and links to decisions."""
    steps = session_tabs.timeline(look(world, world.victim))["steps"]

    assert [step["what"] for step in steps] == [
        "Was submitted",
        "Is being stopped to make room",
        "Is suspended",
    ]
    assert steps[0]["delay_us"] is None
    assert steps[1]["delay_us"] >= 0
    assert steps[1]["url"] == f"/decisions/{world.decision.public_id}/"


def test_the_time_line_of_a_summary_has_states_without_links(world: worlds.World) -> None:
    """Times and states are theirs to see."""
    model_factories.an_event("session.changed", session=world.victim)

    steps = session_tabs.timeline(look(world, world.victim, "viewer"))["steps"]

    assert [step["what"] for step in steps] == [
        "Was submitted",
        "Is being stopped to make room",
        "Is suspended",
    ]
    assert {step["url"] for step in steps} == {""}


def test_a_run_tells_how_long_it_waited_and_what_was_lost(world: worlds.World) -> None:
    """A preempted run says whether its state was saved."""
    now = timezone.now()
    models.Run.objects.filter(session=world.victim).update(
        how_ended="preempted",
        ended_at=now,
        started_at=now - datetime.timedelta(seconds=90),
        was_checkpointed=True,
    )

    attempt = session_tabs.runs(look(world, world.victim))["attempts"][0]

    assert (attempt["result"], attempt["ran_s"], attempt["waited_s"]) == ("preempted", 90, 0)
    assert attempt["lost"] == "nothing: it saved its state"


def test_operators_read_the_command_without_its_environment(world: worlds.World) -> None:
    """All but environment and output."""
    own = session_tabs.facts(look(world, world.victim))
    other = session_tabs.facts(look(world, world.victim, "operator"))

    assert own["sections"][0]["heading"] == "Program"
    assert "TOKEN" in [fact["term"] for fact in own["sections"][0]["facts"]]
    assert [fact["term"] for fact in other["sections"][0]["facts"]] == ["Command"]
    assert other["hidden_note"].startswith("Environment and output")
    assert own["hidden_note"] == ""


def test_with_a_summary_the_facts_are_size_and_times(world: worlds.World) -> None:
    """Neither priorities nor labels, nor how it may be stopped (DESIGN 9)."""
    models.Session.objects.filter(pk=world.victim.pk).update(
        required_labels={"zone": ["a"]}, begin_at=clock.now()
    )
    world.victim.refresh_from_db()

    found = session_tabs.facts(look(world, world.victim, "viewer"))

    terms = [fact["term"] for section in found["sections"] for fact in section["facts"]]
    assert [section["heading"] for section in found["sections"]] == ["Size", "Times"]
    assert terms == ["Nodes", "cpu", "mem", "Submitted", "Last start or resume"]


def outcome(world: worlds.World, kind: str, cause: str = "") -> dict[str, Any]:
    """Return the outcome part of the world's decision."""
    models.Outcome.objects.create(decision=world.decision, kind=kind, cause=cause, at=timezone.now())
    return preemption_aftermath.outcome(models.Decision.objects.get(pk=world.decision.pk))


@pytest.mark.parametrize(
    ("kind", "word"),
    [
        ("used", "started on it"),
        ("wasted", "nobody used it"),
        ("withdrawn", "taken back"),
        ("transferred", "another session"),
    ],
)
def test_an_outcome_is_said_in_words(world: worlds.World, kind: str, word: str) -> None:
    """With its cause where it has one."""
    found = outcome(world, kind, "timed out")

    assert (found["state"], word in found["sentence"]) == (kind, True)


def test_a_decision_without_an_outcome_is_under_way(world: worlds.World) -> None:
    """Not yet used, not yet wasted."""
    assert preemption_aftermath.outcome(world.decision)["state"] == "open"


@pytest.mark.parametrize(
    ("mode", "fate", "note"),
    [
        ("suspend", "stopped", "keep their memory"),
        ("reschedule", "stopped", "had not saved"),
        ("terminate", "finished", "it had finished"),
        ("reschedule", "withdrawn", "was not stopped"),
    ],
)
def test_the_loss_depends_on_mode_and_fate(world: worlds.World, mode: str, fate: str, note: str) -> None:
    """What the mode keeps is not lost."""
    model_factories.a_policy_version(world.group, preemption_mode=mode)
    world.running.group.refresh_from_db()
    decision = decision_factories.a_preemption(world.running, [world.victim], node=world.node)
    models.VictimFate.objects.create(victim=decision.victims.get(), fate=fate, at=timezone.now())
    seen = look(world, world.victim)

    found = preemption_aftermath.lost(seen, seen.stops[0])

    assert note in found["note"]
    assert found["figures"][0]["value"] == "1 min"


def test_the_way_from_decision_to_start_is_measured(world: worlds.World) -> None:
    """Decided, stopped, started: with the spans between."""
    at = world.decision.at
    models.VictimFate.objects.create(victim=world.decision.victims.get(), fate="stopped", at=at)
    seen = look(world, world.victim)

    timing = preemption_aftermath.timing(seen, seen.stops[0])

    assert [step["what"] for step in timing["steps"]] == [
        "Decided and told to stop",
        "It stopped",
        "The other session runs on the freed room",
    ]
    assert len(timing["spans"]) == 2


def test_the_rule_names_version_author_and_reason(world: worlds.World) -> None:
    """As they were at that moment, whatever came later."""
    seen = look(world, world.victim)
    model_factories.a_policy_version(world.group, preemption_state="off", reason="later")

    rule = preemption_rule.load(seen.stops[0], None)

    facts = {fact["term"]: fact for fact in rule["facts"]}
    assert (rule["own"], rule["theirs"]) == (5, 20)
    assert facts["Preemption"]["text"] == "**on** in gpu"
    assert facts["Rules"]["quote"] == "created"
    assert preemption_rule.proof(world.decision)["decision_url"] == f"/decisions/{world.decision.public_id}/"


def view(session: models.Session, verdict: str, **facts: int) -> dict[str, Any]:
    """Return a stored candidate view."""
    return {"session_id": session.pk, "node_ids": [1], "verdict": verdict, "facts": facts}


def row_for(world: worlds.World, person: str, found: dict[str, Any], axis: str = "queue") -> dict[str, Any]:
    """Return the row of a candidate as one person sees it."""
    others = explanations.others(world.people[person], [world.running.pk])
    return candidates.row(found, others, axis=axis, kinds=slot_kinds.load())


def test_whoever_was_stopped_shows_the_priority_that_explains_it(world: worlds.World) -> None:
    """To every viewer on the queue axis; on the owner axis an own rank is nobody else's."""
    stopped = view(world.running, "selected", own=10)

    queue, own = row_for(world, "viewer", stopped), row_for(world, "viewer", stopped, "owner")

    assert (queue["label"], queue["value"], queue["queue"]) == ("Another session", 10, "normal")
    assert own["value"] == words.NOTHING


def test_a_mere_candidate_of_others_shows_its_verdict_without_numbers(world: worlds.World) -> None:
    """An operator reads them; a viewer reads queue, size and when a protection ends."""
    higher = view(world.running, "not-lower", own=77, theirs=55)
    protected = view(world.running, "min-runtime", until=3_600_000_000)

    viewer, operator = (row_for(world, person, higher) for person in ("viewer", "operator"))

    assert (viewer["verdict"], viewer["fact"], viewer["value"]) == ("Not lower", "", words.NOTHING)
    assert (viewer["label"], viewer["queue"]) == ("Another session", "normal")
    assert (operator["value"], "77" in operator["fact"]) == (77, True)
    assert "until 1970-01-01" in row_for(world, "viewer", protected)["fact"]


@pytest.mark.parametrize("verdict", list(core_decisions.Verdict))
def test_every_verdict_has_its_row(world: worlds.World, verdict: core_decisions.Verdict) -> None:
    """With a sign and words, and its node."""
    found = {**view(world.running, verdict.value), "node_ids": [world.node.pk]}
    decision = models.Decision(axis="queue", record={"candidates": [found]})

    others = explanations.others(world.people["viewer"], [world.running.pk])

    row = candidates.by_node(decision, others, ran_s={}, kinds={})

    assert row[0][0] == "gpu-1"
    assert row[0][1][0]["verdict"]


@pytest.mark.parametrize("reason", list(core_decisions.PendReason))
def test_every_reason_of_a_wait_has_its_page(world: worlds.World, reason: core_decisions.PendReason) -> None:
    """Sentence, advice, link, and the check that failed."""
    facts = {"until": 0} if reason is core_decisions.PendReason.BEGIN_TIME else {}
    models.PendReason.objects.filter(session=world.waiting).update(reason=reason.value, facts=facts)

    found = why_pending.load(look(world, world.waiting))

    assert found["sentence"]
    assert found["help_url"].endswith(f"/{reason.value}/")
    if reason is not core_decisions.PendReason.NOT_EVALUATED:
        assert [check["result"] for check in found["checks"] if check["fact"]] in (["no"], ["wait"])


def test_a_wait_shows_every_check_that_failed(world: worlds.World) -> None:
    """The headline's and the further ones; those after the limits were not reached."""
    facts = {"also": "begin-time, never-fits"}
    models.PendReason.objects.filter(session=world.waiting).update(reason="held", facts=facts)

    checks = why_pending.load(look(world, world.waiting))["checks"]

    assert {check["label"]: check["result"] for check in checks if check["result"] != "yes"} == {
        "Released, not held": "no",
        "Begin time reached": "wait",
        "A node large enough": "no",
        "Limits not used up": "idle",
        "Enough free on one node": "idle",
        "Not kept for others before it": "idle",
        "Room is free now": "idle",
    }


def test_the_shortage_shows_the_nearest_node(world: worlds.World) -> None:
    """By kind and by node."""
    node = {
        "node_id": world.node.pk,
        "free": {"cuda.device": 4},
        "releasing": {},
        "short": {"cuda.device": 4},
    }
    models.PendReason.objects.filter(session=world.waiting).update(
        nodes=[{**node, "sessions_short": 0, "note": ""}]
    )

    short = why_pending.load(look(world, world.waiting))["short"]

    assert (short["kinds"][0]["asked"], short["kinds"][0]["most"], short["kinds"][0]["short"]) == (8, 4, 4)
    assert (short["nodes"][0]["name"], short["nodes"][0]["short"]) == ("gpu-1", "4 GPUs")


def test_nodes_that_no_round_kept_are_found_anew(world: worlds.World) -> None:
    """As a round on the present state finds them."""
    models.PendReason.objects.filter(session=world.waiting).update(nodes=[], reason="no-resources")
    models.Session.objects.filter(pk=world.waiting.pk).update(slots={"cpu": 8_000})
    world.waiting.refresh_from_db()

    short = why_pending.load(look(world, world.waiting))["short"]

    assert [node["name"] for node in short["nodes"]] == ["gpu-1"]
    assert models.PendReason.objects.get(session=world.waiting).nodes == []


def test_a_node_without_a_session_place_is_not_said_to_have_enough(world: worlds.World) -> None:
    """Nor is it the nearest before one on which nothing is short."""
    full = {"node_id": world.node.pk, "free": {"cuda.device": 8}, "releasing": {}, "short": {}}
    models.PendReason.objects.filter(session=world.waiting).update(
        nodes=[{**full, "sessions_short": 1, "note": ""}]
    )

    short = why_pending.load(look(world, world.waiting))["short"]

    assert (str(short["kinds"][-1]["kind"]), short["kinds"][-1]["short"]) == ("session places", 1)
    assert (short["nodes"][0]["short"], short["nodes"][0]["others"]) == (
        "1 session place",
        "1 session place short",
    )


def test_the_stop_shows_what_was_short_and_who_was_looked_at(world: worlds.World) -> None:
    """By kind, with what the victim held."""
    found = why_preempted.load(look(world, world.victim), look(world, world.victim).stops[0])

    assert {row["kind"].name: (row["short"], row["held"]) for row in found["short"]["kinds"]} == {
        "cpu": (1_000, 1_000),
        "mem": (1 << 30, 1 << 30),
    }
    assert found["others"]["nodes"][0]["candidates"][0]["is_selected"]


def test_a_running_session_reads_what_could_stop_it(world: worlds.World) -> None:
    """By the rules in force; nothing when they are off."""
    on = why_other.load(look(world, world.running))["risk"]
    model_factories.a_policy_version(world.group, preemption_state="off")
    off = why_other.load(look(world, world.running))["risk"]

    assert "job priority above **20**" in on["facts"][0]["text"]
    assert off == {"sentence": "No: preemption is **off** in gpu.", "facts": []}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("yours was 5.", "yours was **5**."),
        ("on gpu-1; 0.5 cores", "on gpu-1; **0.5** cores"),
        ("node2 and v3", "node2 and v3"),
    ],
)
def test_numbers_of_a_sentence_are_bold_and_those_of_names_are_not(text: str, expected: str) -> None:
    """A name with digits stays in one piece."""
    assert words.bold(text) == expected


def test_a_wait_counts_only_whom_its_owner_may_see(world: worlds.World) -> None:
    """A private session of others is no candidate and stands in no line; the priority of others is not theirs."""
    fields = {"owner": world.people["submitter"], "queue": world.queues["normal"], "group": world.group}
    hidden = model_factories.a_session(priority=50, is_private=True, **fields)
    model_factories.a_session(priority=40, **fields)
    views = [
        view(hidden, "not-lower", own=50, theirs=10),
        view(world.running, "not-lower", own=20, theirs=10),
    ]
    models.PendReason.objects.filter(session=world.waiting).update(candidates=views)

    found = why_pending.load(look(world, world.waiting))

    assert "number **2**" in found["order"]["sentence"]
    assert "as far as you may see" in found["order"]["sentence"]
    assert [row["priority"] for row in found["order"]["rows"]] == [words.NOTHING, world.waiting.priority]
    assert found["preemption"]["sentence"].startswith("No: 1 session was weighed: not lower (**1**)")
    assert [row["label"] for row in found["preemption"]["candidates"]] == ["high-work"]


def test_a_stop_shows_the_recorded_value_of_the_other_side(world: worlds.World) -> None:
    """Whatever its priority is now."""
    winner = model_factories.a_session(
        owner=world.people["submitter"], queue=world.queues["urgent"], group=world.group, priority=77
    )
    decision_factories.a_preemption(winner, [world.victim], node=world.node, axis="queue")
    models.Session.objects.filter(pk=winner.pk).update(priority=3)
    seen = look(world, world.victim)

    assert "with priority 77," in why_preempted.load(seen, seen.stops[0])["who"]["seen"]


def test_a_stop_leaves_out_candidates_that_are_private(world: worlds.World) -> None:
    """In the table and in the number of those that were looked at."""
    hidden = model_factories.a_session(
        owner=world.people["submitter"], queue=world.queues["normal"], group=world.group, is_private=True
    )
    verdict = core_decisions.CandidateView(hidden.pk, (world.node.pk,), core_decisions.Verdict.NOT_LOWER, {})
    decision_factories.a_preemption(world.running, [world.victim], node=world.node, not_chosen=[verdict])

    def shown(name: str) -> tuple[str, int]:
        seen = look(world, world.victim, name)
        others = why_preempted.load(seen, seen.stops[0])["others"]
        return others["sentence"], sum(len(node["candidates"]) for node in others["nodes"])

    assert "looked at **1 session**" in shown("owner")[0]
    assert "looked at **2 sessions**" in shown("manager")[0]
    assert (shown("owner")[1], shown("manager")[1]) == (1, 2)
