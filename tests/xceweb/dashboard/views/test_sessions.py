"""Sessions' pages: what each role reads, the explanations, and what may be done."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django import urls
from django.test import Client

from scheduler import models
from tests import decision_factories, model_factories, worlds
from xceweb.dashboard.contexts import session_page
from xceweb.dashboard.views import sessions

ClientOf = Callable[[str], Client]
SECRETS = ("high-work", "low-work", "late-work", "secret-program", "hidden-token", "olivia")
INSIDE = ("hidden-token",)


def page_of(session: models.Session, tab: str = "") -> str:
    """Return the address of a session's page or tab."""
    name, args = ("session-tab", [tab]) if tab else ("session-detail", [])
    return urls.reverse(f"dashboard:{name}", args=[session.public_id, *args])


def read(client: Client, address: str) -> str:
    """Return a page as text."""
    answer = client.get(address)
    assert answer.status_code == 200
    return answer.content.decode()


ADDRESSES: dict[str, Callable[[worlds.World], str]] = {
    "list": lambda world: urls.reverse("dashboard:session-list"),
    "list rows": lambda world: (
        urls.reverse("dashboard:session-list") + f"?part=session_again&shown={world.running.public_id}"
    ),
    "overview": lambda world: urls.reverse("dashboard:overview"),
    "running": lambda world: page_of(world.running),
    "victim": lambda world: page_of(world.victim),
    "waiting": lambda world: page_of(world.waiting),
    "live part": lambda world: page_of(world.victim) + "?part=live",
    **{tab: lambda world, tab=tab: page_of(world.victim, tab) for tab in sessions.TABS},
    "node": lambda world: urls.reverse("dashboard:node-detail", args=["gpu-1"]),
    "group": lambda world: urls.reverse("dashboard:group-detail", args=["gpu"]),
    "decisions": lambda world: urls.reverse("dashboard:decision-list"),
    "decision": lambda world: urls.reverse("dashboard:decision-detail", args=[world.decision.public_id]),
    "decision json": lambda world: urls.reverse("api:decision-record", args=[world.decision.public_id]),
    "why json": lambda world: urls.reverse("api:session-explanation", args=[world.victim.public_id]),
    "events": lambda world: urls.reverse("live:event-list"),
}


@pytest.mark.parametrize("where", sorted(ADDRESSES))
@pytest.mark.parametrize("who", ["viewer", "submitter"])
def test_others_read_no_name_owner_or_program(
    world: worlds.World, client_of: ClientOf, who: str, where: str
) -> None:
    """State, size, queue and times, on every page, fragment and twin."""
    text = read(client_of(who), ADDRESSES[where](world))

    assert [secret for secret in SECRETS if secret in text] == []


@pytest.mark.parametrize("where", sorted(ADDRESSES))
@pytest.mark.parametrize("who", ["operator", "manager"])
def test_operators_read_all_but_what_is_inside(
    world: worlds.World, client_of: ClientOf, who: str, where: str
) -> None:
    """No environment and no output."""
    text = read(client_of(who), ADDRESSES[where](world))

    assert [secret for secret in INSIDE if secret in text] == []


def test_operators_read_names(world: worlds.World, client_of: ClientOf) -> None:
    """They act on sessions, so they know which."""
    assert "high-work" in read(client_of("operator"), page_of(world.running))


def test_a_summary_has_state_size_and_queue(world: worlds.World, client_of: ClientOf) -> None:
    """What is left for others is really there."""
    text = read(client_of("viewer"), page_of(world.running))

    assert "running" in text.lower()
    assert "normal" in text
    assert "1 core, 1 GiB" in text


def test_output_is_for_the_owner(world: worlds.World, client_of: ClientOf) -> None:
    """An operator is told that there is something that he does not see."""
    model_factories.an_output(world.running, "epoch 7 of 9")

    own = read(client_of("owner"), page_of(world.running, "output"))
    other = read(client_of("operator"), page_of(world.running, "output"))

    assert "epoch 7 of 9" in own
    assert "epoch 7" not in other
    assert "Only the owner" in other


def test_the_output_of_a_running_session_asks_again(world: worlds.World, client_of: ClientOf) -> None:
    """The fragment comes every two seconds while it runs, and alone."""
    text = read(client_of("owner"), page_of(world.running, "output") + "?part=output")

    assert 'hx-trigger="every 2s"' in text
    assert "<html" not in text


def test_a_victim_reads_why_in_one_sentence_with_both_numbers(
    world: worlds.World, client_of: ClientOf
) -> None:
    """Own rank 5, the other's 20, where, and which rule."""
    text = read(client_of("owner"), page_of(world.victim))

    assert "Why it was preempted" in text
    assert "job priority <b>20</b> could start on gpu-1; yours was <b>5</b>" in text
    assert "same owner" in text


def test_the_other_side_of_a_queue_decision_has_no_name(world: worlds.World, client_of: ClientOf) -> None:
    """The victim's owner reads queue, priority and size of the session that took over, and no more."""
    victim, _ = queue_decision(world)

    text = read(client_of("submitter"), page_of(victim))

    assert "a session of queue urgent with priority <b>60</b>" in text
    assert "top-secret" not in text
    assert "You do not see" in text


def queue_decision(world: worlds.World) -> tuple[models.Session, models.Session]:
    """Make a victim of the submitter, stopped for a session of the owner over the queues' rules."""
    victim = model_factories.a_session(
        owner=world.people["submitter"],
        queue=world.queues["background"],
        group=world.group,
        state="suspended",
        priority=3,
    )
    winner = model_factories.a_session(
        owner=world.people["owner"],
        queue=world.queues["urgent"],
        group=world.group,
        name="top-secret",
        priority=60,
    )
    decision_factories.a_preemption(winner, [victim], node=world.node, axis="queue")
    return victim, winner


def test_a_waiting_session_reads_its_reason_with_numbers(world: worlds.World, client_of: ClientOf) -> None:
    """One headline, what was checked, and who is ahead."""
    facts = {"asked.cuda.device": 8, "free.cuda.device": 4, "most.cuda.device": 4, "short.cuda.device": 4}
    world.waiting.pend_reason.facts = facts | {"nodes": 1, "nearest": "gpu-1"}
    world.waiting.pend_reason.save()

    text = read(client_of("owner"), page_of(world.waiting))

    assert "It needs <b>8</b> GPUs on one node" in text
    assert "Enough free on one node" in text
    assert "Who is ahead?" in text


def test_a_requeued_victim_reads_both_why_it_was_stopped_and_why_it_waits(
    world: worlds.World, client_of: ClientOf
) -> None:
    """In mode reschedule the state alone would not tell."""
    world.victim.allocations.all().delete()
    models.Session.objects.filter(pk=world.victim.pk).update(state="pending", attempt=2)
    client = client_of("owner")

    first = read(client, page_of(world.victim))
    second = read(client, page_of(world.victim, "pending"))

    assert "Why it was preempted" in first
    assert "Why it is pending" in second


def test_the_why_of_the_past_stays_when_the_session_runs_again(
    world: worlds.World, client_of: ClientOf
) -> None:
    """A tab of its own leads to the last preemption."""
    models.Session.objects.filter(pk=world.victim.pk).update(state="running", epoch=2)
    client = client_of("owner")

    assert "Why it runs" in read(client, page_of(world.victim))
    assert "Why it was preempted" in read(client, page_of(world.victim, "preempted"))


@pytest.mark.parametrize(
    "state", ["scheduled", "running", "preempted", "stopping", "terminating", "terminated"]
)
def test_every_state_has_its_sentence(world: worlds.World, client_of: ClientOf, state: str) -> None:
    """No state leaves the page without an answer."""
    session = model_factories.a_session(
        owner=world.people["owner"], queue=world.queues["normal"], group=world.group, state=state
    )

    text = read(client_of("owner"), page_of(session))

    assert 'class="sentence"' in text
    assert session.name in text


def test_the_live_part_renews_the_buttons_beside_it(world: worlds.World, client_of: ClientOf) -> None:
    """They depend on the state; the column comes along out of band."""
    text = read(client_of("owner"), page_of(world.running) + "?part=live")

    assert 'id="session-live"' in text
    assert 'id="session-aside"' in text
    assert 'hx-swap-oob="true"' in text
    assert "Suspend it" in text


def test_an_unknown_tab_and_an_unknown_part_are_not_there(world: worlds.World, client_of: ClientOf) -> None:
    """Nothing else is rendered for a guessed address."""
    client = client_of("owner")

    assert client.get(page_of(world.running, "secrets")).status_code == 404
    assert client.get(page_of(world.running) + "?part=../base").status_code == 404


def test_a_search_does_not_tell_hidden_names(world: worlds.World, client_of: ClientOf) -> None:
    """The count of matches would otherwise be an oracle."""
    address = urls.reverse("dashboard:session-list") + "?q=late-work"

    assert "No session matches" in read(client_of("viewer"), address)
    assert "late-work" in read(client_of("owner"), address)


def test_filters_narrow_the_list(world: worlds.World, client_of: ClientOf) -> None:
    """State, queue and owner are read from the address."""
    client = client_of("owner")
    address = urls.reverse("dashboard:session-list")

    assert "late-work" in read(client, f"{address}?state=pending&owner=me&queue=normal&group=gpu")
    assert "No session matches" in read(client, f"{address}?state=ended:failure")
    assert "low-work" in read(client, f"{address}?state=nonsense&page=x")


def act(client: Client, session: models.Session, action: str, **fields: object) -> str:
    """Do one thing and return the page that follows."""
    address = urls.reverse("dashboard:session-act", args=[session.public_id, action])
    answer = client.post(address, fields, follow=True)
    assert answer.status_code == 200
    session.refresh_from_db()
    return answer.content.decode()


def test_an_owner_cancels_a_waiting_session(world: worlds.World, client_of: ClientOf) -> None:
    """It ends at once, as cancelled."""
    text = act(client_of("owner"), world.waiting, "cancel")

    assert (world.waiting.state, world.waiting.result) == ("terminated", "cancelled")
    assert "is being cancelled" in text


def test_hold_and_release(world: worlds.World, client_of: ClientOf) -> None:
    """The button turns into its opposite."""
    client = client_of("owner")

    held = act(client, world.waiting, "hold")
    assert world.waiting.is_held
    act(client, world.waiting, "release")

    assert "Release it" in held
    assert not world.waiting.is_held


def test_what_the_state_does_not_allow_is_said_and_nothing_changes(
    world: worlds.World, client_of: ClientOf
) -> None:
    """Suspend a waiting session: no."""
    text = act(client_of("owner"), world.waiting, "suspend")

    assert "cannot be suspended" in text
    assert world.waiting.state == "pending"


def test_a_priority_above_the_cap_is_refused_with_the_cap(world: worlds.World, client_of: ClientOf) -> None:
    """The error names the cap; the row stays."""
    world.people["owner"].policy.max_priority = 40
    world.people["owner"].policy.save()

    text = act(client_of("owner"), world.waiting, "change", priority=80, job_priority=11)

    assert "80 is above 40" in text
    assert (world.waiting.priority, world.waiting.job_priority) == (10, 10)


def test_an_owner_changes_the_rank_of_a_session(world: worlds.World, client_of: ClientOf) -> None:
    """What is not sent stays."""
    act(client_of("owner"), world.waiting, "change", job_priority=-7)

    assert (world.waiting.priority, world.waiting.job_priority) == (10, -7)


def test_nobody_acts_on_anothers_session_without_the_role(world: worlds.World, client_of: ClientOf) -> None:
    """403 for those who see it, and nothing happened."""
    address = urls.reverse("dashboard:session-act", args=[world.waiting.public_id, "cancel"])

    answer = client_of("submitter").post(address)

    world.waiting.refresh_from_db()
    assert (answer.status_code, world.waiting.state) == (403, "pending")


def test_actions_are_offered_to_those_who_may(world: worlds.World, client_of: ClientOf) -> None:
    """A viewer's page has no button."""
    assert 'id="act-cancel"' in read(client_of("operator"), page_of(world.waiting))
    assert 'id="act-cancel"' not in read(client_of("viewer"), page_of(world.waiting))


def test_the_explanations_and_tabs_are_the_routes_of_the_page() -> None:
    """The view accepts exactly what the page can show."""
    assert set(sessions.TABS) == {*session_page.TABS, *session_page.EXPLANATIONS}
