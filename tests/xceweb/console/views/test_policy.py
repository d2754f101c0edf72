"""The switch: preview, change with a reason, two people at once, undo."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django import urls
from django.test import Client

from scheduler import models
from tests import decision_factories, model_factories, worlds
from xceweb.console import policy_form

ClientOf = Callable[[str], Client]
ADDRESS = "/groups/gpu/policy/"


def form_of(group: models.ResourceGroup, **changes: Any) -> dict[str, Any]:
    """Return what a browser sends for a group's present rules, with changes."""
    group.refresh_from_db()
    values = policy_form.values(group.policy)
    sent = {name: value for name, value in values.items() if value is not None and value is not False}
    return {**sent, "version": group.policy.version, "reason": "tests want it", **changes}


def send(client: Client, group: models.ResourceGroup, **changes: Any) -> tuple[int, str]:
    """Send the form; return status and page."""
    answer = client.post(ADDRESS, form_of(group, **changes))
    return answer.status_code, answer.content.decode()


def soon() -> str:
    """Return a time in an hour, as a browser sends it."""
    return f"{model_factories.ago(-3600):%Y-%m-%dT%H:%M}"


def now(group: models.ResourceGroup) -> models.PolicyVersion:
    """Return the version in force."""
    group.refresh_from_db()
    assert group.policy is not None
    return group.policy


def test_a_manager_switches_with_a_reason(world: worlds.World, client_of: ClientOf) -> None:
    """A new version, with who and why; the other rules stay."""
    status, _ = send(client_of("manager"), world.group, preemption_state="off", reason="too many stops")

    row = now(world.group)
    assert (status, row.version, row.preemption_state) == (302, 2, "off")
    assert (row.created_by_name, row.reason) == ("manager", "too many stops")
    assert row.preemption_mode == "suspend"


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"reason": " "}, "Write why"),
        ({"grace_period": "-1"}, "greater than or equal to 0"),
        ({"grace_period": ""}, "This field is required"),
        ({"preemption_mode": "explode"}, "Select a valid choice"),
        ({"suspend_releases": "cpu, gold"}, "Unknown kinds: gold"),
        ({"preemption_state": "on"}, "Nothing changes"),
    ],
)
def test_a_change_that_cannot_be_is_said_at_its_field(
    world: worlds.World, client_of: ClientOf, changes: dict[str, str], text: str
) -> None:
    """And nothing changes."""
    status, page = send(client_of("manager"), world.group, **{"preemption_state": "off", **changes})

    assert status == 422
    assert text in page
    assert now(world.group).version == 1


def test_every_rule_can_be_changed_by_the_form(world: worlds.World, client_of: ClientOf) -> None:
    """Empty means no limit, names are read as kinds, boxes as yes and no."""
    send(
        client_of("manager"),
        world.group,
        max_preemptions_per_session="3",
        suspend_releases="cpu, cuda.device",
        requeue_suspended="on",
        preemption_min_runtime="30",
    )

    row = now(world.group)
    assert (row.max_preemptions_per_session, row.preemption_min_runtime) == (3, 30)
    assert row.suspend_releases == ["cpu", "cuda.device"]
    assert row.requeue_suspended


def test_who_is_slower_sees_the_difference_and_saves_nothing(
    world: worlds.World, client_of: ClientOf
) -> None:
    """Three values a rule; the form then stands on the newer version, the own value kept where they do not collide."""
    mine = form_of(world.group, preemption_state="shadow", grace_period="33")
    send(client_of("manager"), world.group, preemption_state="off", reason="I was first")

    answer = client_of("administrator").post(ADDRESS, mine)

    page = answer.content.decode()
    assert answer.status_code == 409
    assert "manager was faster" in page
    assert "both changed it" in page
    assert 'value="33"' in page
    assert (now(world.group).version, now(world.group).grace_period) == (2, 10)


def test_the_page_after_a_conflict_can_be_sent_again(world: worlds.World, client_of: ClientOf) -> None:
    """It carries the number of the version that is in force now."""
    mine = form_of(world.group, grace_period="33")
    send(client_of("manager"), world.group, preemption_state="off")
    client = client_of("administrator")

    page = client.post(ADDRESS, mine).content.decode()

    assert 'name="version" value="2"' in page


UNDO = {"reason": "the night is over"}


def test_undo_goes_back_as_a_version_of_its_own(world: worlds.World, client_of: ClientOf) -> None:
    """History is kept, with the reason of the person who goes back."""
    client = client_of("manager")
    send(client, world.group, preemption_state="off")

    client.post(urls.reverse("console:group-policy-undo", args=["gpu", 2]), UNDO)

    row = now(world.group)
    assert (row.version, row.preemption_state, row.reason) == (3, "on", "the night is over")


def test_a_change_can_be_taken_back_with_one_press_until_a_round_acts(
    world: worlds.World, client_of: ClientOf
) -> None:
    """The page offers it with its reason, to managers only, and then no more."""
    client = client_of("manager")
    send(client, world.group, grace_period="33")
    assert "no round has stopped anybody by it yet" in client.get(ADDRESS).content.decode()
    assert "no round has stopped" not in client_of("operator").get(ADDRESS).content.decode()

    waiting = models.Session.objects.get(pk=world.waiting.pk)
    decision_factories.a_preemption(waiting, [], node=world.node)
    pressed = {"reason": "Taken back before a round acted on it", "only_unacted": "1"}
    page = client.post(urls.reverse("console:group-policy-undo", args=["gpu", 2]), pressed, follow=True)

    assert "A round has acted on version 2 meanwhile" in page.content.decode()
    assert "no round has stopped" not in page.content.decode()
    assert now(world.group).version == 2


@pytest.mark.parametrize("sent", [{}, {"reason": " . "}])
def test_an_undo_without_a_reason_is_refused(
    world: worlds.World, client_of: ClientOf, sent: dict[str, str]
) -> None:
    """The page says so, nothing changes, and the form asks for it."""
    client = client_of("manager")
    send(client, world.group, preemption_state="off")

    answer = client.post(urls.reverse("console:group-policy-undo", args=["gpu", 2]), sent, follow=True)

    page = answer.content.decode()
    assert now(world.group).version == 2
    assert "Version 2 is not undone: write why" in page
    assert 'aria-label="Why version 2 is undone"' in page


def test_an_undo_that_comes_too_late_changes_nothing(world: worlds.World, client_of: ClientOf) -> None:
    """Somebody changed the rules meanwhile."""
    client = client_of("manager")
    send(client, world.group, preemption_state="off")
    send(client, world.group, preemption_state="shadow")

    client.post(urls.reverse("console:group-policy-undo", args=["gpu", 2]), UNDO)

    assert (now(world.group).version, now(world.group).preemption_state) == (3, "shadow")


def test_a_change_for_a_while_shows_its_way_back_which_can_be_cancelled(
    world: worlds.World, client_of: ClientOf
) -> None:
    """With a reason; what is in force stays."""
    client = client_of("manager")
    send(client, world.group, preemption_state="off", when="for", for_amount="2", for_unit="hours")
    page = client.get(ADDRESS).content.decode()
    assert "Goes back to on by itself" in page

    refused = client.post(f"{ADDRESS}cancel-planned/", {"reason": ""}, follow=True).content.decode()
    kept = client.post(
        f"{ADDRESS}cancel-planned/", {"reason": "it stays quiet"}, follow=True
    ).content.decode()

    assert "The plan is not cancelled: write why" in refused
    assert "Goes back to on by itself" in refused
    assert "Goes back to on by itself" not in kept
    assert (now(world.group).version, now(world.group).preemption_state) == (2, "off")


def test_a_change_at_a_time_is_planned_and_told(world: worlds.World, client_of: ClientOf) -> None:
    """Nothing is in force yet; others who look see what will come."""
    status, _ = send(client_of("manager"), world.group, preemption_state="off", when="at", at=soon())
    page = client_of("viewer").get(ADDRESS).content.decode()

    assert (status, now(world.group).version) == (302, 1)
    assert "Preemption off planned" in page
    assert "Cancel the plan" not in page


@pytest.mark.parametrize(
    ("sent", "text"),
    [
        ({"when": "for"}, "Write for how long."),
        ({"when": "at", "at": "2020-01-01T00:00"}, "Must be in the future, and within a year."),
        ({"when": "for", "for_amount": "9999", "for_unit": "days"}, "Must be at least 1 and at most"),
    ],
)
def test_a_time_that_cannot_be_is_said_at_its_field(
    world: worlds.World, client_of: ClientOf, sent: dict[str, str], text: str
) -> None:
    """And what was chosen stays chosen."""
    status, page = send(client_of("manager"), world.group, preemption_state="off", **sent)

    assert (status, now(world.group).version) == (422, 1)
    assert text in page
    assert f'value="{sent["when"]}" checked' in page


def aged(client: Client) -> Client:
    """Make a log-in old."""
    session = client.session
    session["xce_proven_at"] = model_factories.ago(86_400).isoformat()
    session.save()
    return client


def test_an_old_log_in_switches_on_only_with_the_password(world: worlds.World, client_of: ClientOf) -> None:
    """Which the page asks for, and which makes the log-in fresh."""
    send(client_of("manager"), world.group, preemption_state="off")
    client = aged(client_of("manager"))

    assert "Your password" in client.get(ADDRESS).content.decode()
    status, page = send(client, world.group, preemption_state="on")
    assert (status, "write your password" in page) == (422, True)
    status, page = send(client, world.group, preemption_state="on", password="wrong")
    assert (status, "That is not your password." in page, now(world.group).version) == (422, True, 2)
    status, _ = send(client, world.group, preemption_state="on", password=model_factories.PASSWORD)
    assert (status, now(world.group).preemption_state) == (302, "on")
    assert "Your password" not in client.get(ADDRESS).content.decode()


def test_an_undo_that_would_switch_on_needs_a_fresh_log_in_too(
    world: worlds.World, client_of: ClientOf
) -> None:
    """And says where to give the password."""
    client = aged(client_of("manager"))
    send(client, world.group, preemption_state="off")

    page = client.post(urls.reverse("console:group-policy-undo", args=["gpu", 2]), UNDO, follow=True)

    assert "Use the form above, which asks for it." in page.content.decode()
    assert now(world.group).preemption_state == "off"


def test_many_victims_take_the_name_of_the_group(
    crowded: worlds.World, client_of: ClientOf, settings: Any
) -> None:
    """On the page as in the preview."""
    settings.CONFIRM_ABOVE_VICTIMS = 0
    model_factories.a_policy_version(crowded.group, preemption_state="off")
    client = client_of("manager")
    assert "data-needs-name" in preview(client, crowded.group, preemption_state="on")

    status, page = send(client, crowded.group, preemption_state="on", confirm="gpus")
    assert (status, "Write gpu: 1 session would be stopped now." in page) == (422, True)
    assert send(client, crowded.group, preemption_state="on", confirm="gpu")[0] == 302


def test_the_history_tells_changes_and_reasons(world: worlds.World, client_of: ClientOf) -> None:
    """With the rule's name and both values."""
    client = client_of("manager")
    send(client, world.group, grace_period="77", reason="slow checkpoints")

    page = client.get(ADDRESS).content.decode()

    assert "Grace: 10 to 77" in page
    assert "slow checkpoints" in page


def preview(client: Client, group: models.ResourceGroup, **changes: Any) -> str:
    """Return the preview of a form."""
    answer = client.post(f"{ADDRESS}preview/", form_of(group, **changes))
    assert answer.status_code == 200
    return answer.content.decode()


@pytest.fixture
def crowded(world: worlds.World) -> worlds.World:
    """The owner's low session fills the node, and a higher one of the owner waits."""
    fields = {"owner": world.people["owner"], "queue": world.queues["normal"], "group": world.group}
    model_factories.a_session(
        name="fills-it", state="running", job_priority=1, slots={"cuda.device": 4}, **fields
    )
    model_factories.a_session(name="wants-in", job_priority=50, slots={"cuda.device": 2}, **fields)
    return world


def test_the_preview_names_who_would_stop_and_for_whom(crowded: worlds.World, client_of: ClientOf) -> None:
    """The button says what it does."""
    model_factories.a_policy_version(crowded.group, preemption_state="off")

    text = preview(client_of("manager"), crowded.group, preemption_state="on")

    assert "would stop <b>1 session</b> so that <b>1 session</b> can start" in text
    assert "fills-it" in text
    assert "1 below 50" in text
    assert "Turn on and stop 1 session" in text


def test_the_preview_changes_nothing(crowded: worlds.World, client_of: ClientOf) -> None:
    """No version, no event, no decision."""
    before = (
        models.PolicyVersion.objects.count(),
        models.Event.objects.count(),
        models.Decision.objects.count(),
    )

    preview(client_of("manager"), crowded.group, preemption_state="on")

    after = (
        models.PolicyVersion.objects.count(),
        models.Event.objects.count(),
        models.Decision.objects.count(),
    )
    assert after == before


def test_the_preview_of_shadow_and_off_say_that_nobody_is_stopped(
    crowded: worlds.World, client_of: ClientOf
) -> None:
    """What each position means now."""
    client = client_of("manager")

    assert "<b>Nobody</b> is stopped" in preview(client, crowded.group, preemption_state="shadow")
    assert "Off: <b>nobody</b>" in preview(client, crowded.group, preemption_state="off")


def test_the_preview_counts_who_is_protected_and_why(crowded: worlds.World, client_of: ClientOf) -> None:
    """A minimum runtime protects whoever runs, with what they hold, and whom, for example."""
    text = preview(client_of("manager"), crowded.group, preemption_min_runtime="86400")

    assert "<b>nobody</b> would be stopped" in text
    assert "Protected by the minimum runtime" in text
    assert "They hold" in text
    assert "2 protected" in text


def test_a_preview_of_a_value_that_cannot_be_says_so(crowded: worlds.World, client_of: ClientOf) -> None:
    """Instead of an answer to another question."""
    assert "unknown kinds: gold" in preview(client_of("manager"), crowded.group, suspend_releases="gold")


def test_submitters_see_the_rules_without_a_preview(world: worlds.World, client_of: ClientOf) -> None:
    """What the preview tells of others' sessions is not theirs to see."""
    page = client_of("submitter").get(ADDRESS).content.decode()

    assert 'id="preview"' not in page
    assert "Managers of gpu change them" in page


def test_operators_preview_and_do_not_change(world: worlds.World, client_of: ClientOf) -> None:
    """They see the confirm button of nobody."""
    client = client_of("operator")

    assert 'id="preview"' in client.get(ADDRESS).content.decode()
    assert "policy-confirm" not in preview(client, world.group)


def test_the_first_rules_are_no_empty_change(world: worlds.World, client_of: ClientOf) -> None:
    """On a narrow screen each cell has its label, and something behind it."""
    page = client_of("manager").get(urls.reverse("console:group-policy", args=["gpu"])).content.decode()

    assert (
        '<td data-label="Change"><span class="row row--tight"><span class="ink-3">the first rules</span></span></td>'
        in page
    )
