"""Overview, groups, queues, nodes and decisions in words and rows."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from scheduler import models
from scheduler.agent import host
from scheduler.selectors import capacity, decisions, sessions, slot_kinds
from scheduler.selectors import nodes as node_selector
from tests import decision_factories, model_factories, worlds
from xceweb.dashboard.contexts import capacity as capacity_context
from xceweb.dashboard.contexts import (
    decision_list,
    decision_page,
    group_page,
    node_pages,
    overview,
    queue_rows,
    session_list,
    session_looks,
)


def test_each_part_of_the_overview_comes_alone(world: worlds.World) -> None:
    """A fragment does not pay for the whole page."""
    viewer = world.people["owner"]

    assert set(overview.load(viewer, "states")) == {"states"}
    assert set(overview.load(viewer, "")) >= {"headline", "capacity", "states", "mine", "events", "notices"}


def test_notices_name_what_is_unwell(world: worlds.World) -> None:
    """With the reason that somebody gave."""
    models.Node.objects.filter(pk=world.node.pk).update(state="down", state_reason="fan broken")
    model_factories.a_policy_version(world.group, starting=False, reason="maintenance")

    titles = {notice["title"]: notice["text"] for notice in overview.notices(world.people["viewer"])}

    assert titles == {"gpu-1 is down": "fan broken", "gpu is stopped": "maintenance"}


def test_capacity_is_said_in_words_too(world: worlds.World) -> None:
    """For those who do not see the bar."""
    uses = node_selector.uses(world.people["viewer"], group=world.group)

    rows = capacity_context.kinds(uses, slot_kinds.load())

    assert [str(row["kind"]) for row in rows] == ["cuda.device", "cpu", "mem"]
    assert rows[1]["label"] == "cpu: 1 allocated, 7 free of 8 cores"
    assert capacity_context.summary(uses) == "1 node, 4 GPUs"


@pytest.mark.parametrize(
    ("capacities", "text"),
    [
        ([{"cuda.device": 4}, {"cuda.device": 4}], "2 nodes, 4 GPUs each"),
        ([{"cuda.device": 4}, {"cpu": 1}], "2 nodes"),
        ([{"cpu": 1}], "1 node"),
        ([], "0 nodes"),
    ],
)
def test_nodes_are_summed_up_in_a_few_words(capacities: list[dict[str, int]], text: str) -> None:
    """Equal ones say what each has."""
    uses = [
        capacity.NodeUse(models.Node(), {k: capacity.SlotUse(capacity=n) for k, n in one.items()}, {})
        for one in capacities
    ]

    assert capacity_context.summary(uses) == text


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ({"preemption_state": "off"}, "**off**: nobody"),
        ({"preemption_state": "shadow"}, "**Shadow**: nobody is stopped"),
        ({"preemption_mode": "reschedule", "preemption_scope": "owner"}, "same owner's sessions"),
        ({"preemption_mode": "terminate", "preemption_scope": "queue"}, "**end**"),
    ],
)
def test_rules_are_one_sentence(world: worlds.World, rules: dict[str, Any], words: str) -> None:
    """For people who do not know the fields."""
    assert words in group_page.sentence(model_factories.a_policy_version(world.group, **rules))


def test_a_groups_page_has_its_parts(world: worlds.World) -> None:
    """Reasons, nodes, queues, last preemptions."""
    found = group_page.load(world.people["viewer"], world.group)

    assert [row["label"] for row in found["pending"]] == ["Not enough free"]
    assert found["pending"][0]["list_url"] == ""  # of others' sessions a viewer reads no reasons
    assert [node["name"] for node in found["nodes"]] == ["gpu-1"]
    assert [queue["name"] for queue in found["queues"]] == ["background", "normal", "urgent"]
    assert [row["number"] for row in found["decisions"]] == [world.decision.pk]


def test_reasons_lead_to_the_sessions_that_wait_for_them(world: worlds.World) -> None:
    """The list with the same number."""
    (row,) = group_page.load(world.people["owner"], world.group)["pending"]

    assert row["list_url"] == "/sessions/?group=gpu&reason=no-resources"
    assert (row["count"], row["readable"]) == (1, 1)


def test_a_queue_without_a_default_leaves_it_to_the_owner(world: worlds.World) -> None:
    """One with a default shows the number."""
    models.Queue.objects.filter(slug="urgent").update(default_priority=40)

    rows = {row["name"]: row["default_priority"] for row in queue_rows.load(world.people["viewer"])}

    assert (rows["urgent"], rows["normal"]) == (40, "owner's default")


def test_nodes_say_what_fits_now(world: worlds.World) -> None:
    """The largest request, on one node."""
    model_factories.a_node("gpu-2", group=world.group, state="draining", state_reason="new fan")

    group = node_pages.by_group(world.people["viewer"])["groups"][0]

    assert group["largest"] == "4 GPUs, 7 cores, 31 GiB"
    assert [(node["name"], node["note"]) for node in group["nodes"]] == [("gpu-1", ""), ("gpu-2", "new fan")]


def test_one_node_shows_its_sessions_as_far_as_visible(world: worlds.World) -> None:
    """Others without a name and without devices."""
    own = node_pages.one(world.people["owner"], world.node)["sessions"]
    other = node_pages.one(world.people["viewer"], world.node)["sessions"]

    assert {row["label"] for row in own} == {"low-work", "high-work"}
    assert {row["label"] for row in other} == {"Another session"}


@pytest.mark.parametrize("is_private", [False, True])
def test_a_device_of_somebody_else_is_in_use_and_no_more(world: worlds.World, is_private: bool) -> None:
    """So that private sessions cannot be told from others; cells and free amounts are the node's."""
    holder = model_factories.a_session(
        owner=world.people["owner"],
        queue=world.queues["normal"],
        group=world.group,
        state="running",
        node=world.node,
        slots={"cuda.device": 1},
        is_private=is_private,
    )

    seen = node_pages.one(world.people["submitter"], world.node)
    managed = node_pages.one(world.people["manager"], world.node)

    used = {"kind": "cuda.device", "index": 0, "state": "allocated", "session": "", "url": ""}
    assert seen["devices"][0] == used
    assert managed["devices"][0]["session"] == holder.name
    assert [kind["parts"] for kind in seen["kinds"]] == [kind["parts"] for kind in managed["kinds"]]
    assert len(managed["sessions"]) - len(seen["sessions"]) == is_private


def test_a_private_session_is_not_on_an_operators_node(world: worlds.World) -> None:
    """It does not exist for him."""
    models.Session.objects.filter(pk=world.running.pk).update(is_private=True)

    labels = [row["label"] for row in node_pages.one(world.people["operator"], world.node)["sessions"]]

    assert labels == ["low-work"]


def a_claim(world: worlds.World, **fields: Any) -> models.Claim:
    """Let room on the node be kept for the waiting session."""
    models.Session.objects.filter(pk=world.waiting.pk).update(**fields)
    claim = models.Claim.objects.create(session=world.waiting, since=timezone.now())
    claim.nodes.add(world.node)
    return claim


def test_a_node_names_whom_room_is_kept_for(world: worlds.World, client_of: Callable[[str], Client]) -> None:
    """Since when, and to others without a name; their page says that it is theirs."""
    claim = a_claim(world)

    own = node_pages.one(world.people["owner"], world.node)["claims"]
    other = node_pages.one(world.people["viewer"], world.node)["claims"]
    page = client_of("viewer").get("/nodes/gpu-1/").content.decode()

    assert [(row["label"], row["since"], row["queue"]) for row in own] == [
        ("late-work", claim.since, "normal")
    ]
    assert [row["label"] for row in other] == ["Another session"]
    assert "Whom is room kept for?" in page


def test_a_private_claim_is_on_nobody_elses_node(
    world: worlds.World, client_of: Callable[[str], Client]
) -> None:
    """Its session does not exist for them."""
    a_claim(world, is_private=True)

    assert node_pages.one(world.people["operator"], world.node)["claims"] == []
    assert "Whom is room kept for?" not in client_of("operator").get("/nodes/gpu-1/").content.decode()
    assert len(node_pages.one(world.people["manager"], world.node)["claims"]) == 1


def test_a_session_shows_its_own_claim(world: worlds.World, client_of: Callable[[str], Client]) -> None:
    """With its nodes and since when; whoever sees a summary alone does not read it."""
    a_claim(world)
    address = f"/sessions/{world.waiting.public_id}/"

    own, other = (client_of(who).get(address).content.decode() for who in ("owner", "viewer"))

    assert "<dt>Kept for it</dt>" in own
    assert '<a href="/nodes/gpu-1/">gpu-1</a> <span class="ink-3">since' in own
    assert "Kept for it" not in other


def test_what_the_host_cannot_enforce_is_said(world: worlds.World) -> None:
    """As its agent's hello told."""
    told = {"affinity": True, "cgroup_v2": False, "freezer": False, "multi_user": False, "wings": False}
    models.AgentStatus.objects.create(node=world.node, facts={"host": {}, "enforce": told})
    node = node_selector.require(world.people["owner"], "gpu-1")

    said = node_pages.one(world.people["owner"], node)["node"]["enforced"]

    assert [sentence.partition(":")[0] for sentence in said] == [
        "Single-user mode",
        "No shares by control groups (cgroup v2)",
        "Sessions are suspended by signals, not by a freezer",
        "This host cannot enforce",
    ]


def test_a_host_that_enforces_all_is_not_warned_of(world: worlds.World) -> None:
    """Nor one whose agent has not said anything yet."""
    owner = world.people["owner"]
    silent = node_pages.one(owner, node_selector.require(owner, "gpu-1"))
    able = dict.fromkeys(host.enforce(cgroup_root=None, multi_user=False), True)
    models.AgentStatus.objects.create(node=world.node, facts={"enforce": able})
    able = node_pages.one(owner, node_selector.require(owner, "gpu-1"))

    assert silent["node"]["enforced"] == able["node"]["enforced"] == []


def test_drain_is_offered_to_operators(world: worlds.World) -> None:
    """And its opposite when it is drained."""
    actions = node_pages.one(world.people["operator"], world.node)["actions"]
    world.node.state = "draining"
    opposite = node_pages.one(world.people["operator"], world.node)["actions"]

    assert [action["label"] for action in actions + opposite] == ["Drain", "Make ready"]
    assert node_pages.one(world.people["viewer"], world.node)["actions"] == []


@pytest.mark.parametrize(("seconds", "labels"), [(20, ["Drain", "Declare lost"]), (5, ["Drain"])])
def test_an_administrator_may_declare_a_silent_node_lost(
    world: worlds.World, seconds: int, labels: list[str]
) -> None:
    """Nobody may while its agent speaks, and operators may never."""
    heard = timezone.now() - datetime.timedelta(seconds=seconds)
    models.AgentStatus.objects.create(node=world.node, last_report_at=heard)
    offered = {
        who: node_pages.one(world.people[who], world.node)["actions"] for who in ("administrator", "operator")
    }

    assert [action["label"] for action in offered["administrator"]] == labels
    assert [action["label"] for action in offered["operator"]] == ["Drain"]


def test_the_history_shows_both_sides_as_far_as_visible(world: worlds.World) -> None:
    """Values for everybody, names for those who may."""
    rows = {
        who: decision_list.load(world.people[who], decisions.Filters(), number=1)["decisions"][0]
        for who in ("owner", "viewer")
    }

    assert rows["owner"]["preemptor"]["label"] == "high-work"
    assert rows["viewer"]["preemptor"]["label"] == "Another session"
    assert rows["viewer"]["victims"] == [
        {"label": "Another session", "url": "", "is_mine": False, "value": 5}
    ]


def test_a_shadow_decision_says_that_nothing_was_stopped(world: worlds.World) -> None:
    """And how often it came up."""
    shadow = decision_factories.a_preemption(world.running, [world.victim], node=world.node, kind="shadow")
    models.ShadowCount.objects.create(decision=shadow, key="k", count=3, last_at=timezone.now())
    row = decisions.require(world.people["owner"], shadow.public_id)

    found = decision_page.load(world.people["owner"], row)

    assert "would have been stopped" in found["decision"]["sentence"]
    assert "**3 times**" in found["decision"]["note"]
    assert (found["decision"]["outcome"], found["outcome_sentence"]) == ("shadow", "")


def test_a_closed_decision_is_told_in_the_past(world: worlds.World) -> None:
    """With what became of it."""
    models.Outcome.objects.create(decision=world.decision, kind="used", at=timezone.now())
    row = decisions.require(world.people["owner"], world.decision.public_id)

    found = decision_page.load(world.people["owner"], row)

    assert "session was stopped" in found["decision"]["sentence"].replace("**", "")
    assert "started on it" in found["outcome_sentence"]
    assert [step["what"] for step in found["steps"]][-1] == "low-work is suspended"


def test_a_decisions_page_answers_no_question_that_it_does_not_ask(world: worlds.World) -> None:
    """The sentence stands under "What became of it?", without yes or no."""
    models.Outcome.objects.create(decision=world.decision, kind="used", at=timezone.now())
    row = decisions.require(world.people["owner"], world.decision.public_id)

    sentence = decision_page.load(world.people["owner"], row)["outcome_sentence"]

    assert sentence.startswith("The session for which room was made **started on it**")


def test_filters_stay_in_the_addresses_of_pages(world: worlds.World) -> None:
    """Defaults are left out."""
    filters = sessions.Filters(state="pending", q="a b")

    assert session_list.url(filters, page=2) == "/sessions/?q=a+b&state=pending&page=2"
    assert session_list.url(sessions.Filters(), page=1) == "/sessions/"


def test_the_pager_knows_its_ends(world: worlds.World, monkeypatch: pytest.MonkeyPatch) -> None:
    """No way before the first, none after the last."""
    monkeypatch.setattr(sessions, "PAGE", 2)
    viewer = world.people["owner"]

    first = session_list.load(viewer, sessions.Filters(), session_looks.Look(), number=1)["pager"]
    last = session_list.load(viewer, sessions.Filters(), session_looks.Look(), number=2)["pager"]

    assert (first["previous_url"], first["next_url"]) == ("", "/sessions/?page=2")
    assert (last["first"], last["last"], last["next_url"]) == (3, 3, "")
