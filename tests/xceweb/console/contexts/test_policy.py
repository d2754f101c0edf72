"""The policy tab's context: rules, history, conflict, preview in words."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler import models
from scheduler.selectors import exposures, policies, preview, rule_warnings
from tests import model_factories, worlds
from xceweb.console import assent_form, extras, policy_form, when_form
from xceweb.console.contexts import policy, policy_preview


def a_form(group: models.ResourceGroup, **changes: Any) -> policy_form.PolicyForm:
    """Return a sent form with changes to the rules in force."""
    current = policies.current(group)
    values = {k: v for k, v in policy_form.values(current).items() if v is not None and v is not False}
    form = policy_form.PolicyForm(current, {**values, "version": current.version, "reason": "r", **changes})
    assert form.is_valid(), form.errors
    return form


def beside() -> extras.Extras:
    """Return the empty forms beside the rules, of a fresh log-in."""
    return extras.Extras(when_form.WhenForm(), assent_form.AssentForm(), True)


def test_changed_rules_are_marked(world: worlds.World) -> None:
    """Against the version in force."""
    found = policy.load(
        world.people["manager"], world.group, a_form(world.group, grace_period=11), sent=beside()
    )

    rules = {rule["field"].name: rule["is_changed"] for rule in [*found["rules"], *found["more_rules"]]}
    assert [name for name, is_changed in rules.items() if is_changed] == ["grace_period"]


def test_each_rule_tells_its_default_beside_what_is_in_force(world: worlds.World) -> None:
    """Also where the default is no limit."""
    model_factories.a_policy_version(world.group, grace_period=33, max_suspend_time=60)

    found = policy.load(world.people["manager"], world.group, a_form(world.group), sent=beside())

    told = {rule["field"].name: rule["origin"] for rule in [*found["rules"], *found["more_rules"]]}
    assert told["grace_period"] == "In force: 33. Default: 10"
    assert told["suspend_grace"] == "In force: 2, the default"
    assert told["max_suspend_time"] == "In force: 60. Default: no limit"


def test_only_the_version_in_force_can_be_undone(world: worlds.World) -> None:
    """And the first one never."""
    model_factories.a_policy_version(world.group, grace_period=11)
    model_factories.a_policy_version(world.group, grace_period=12)

    found = policy.load(world.people["manager"], world.group, a_form(world.group), sent=beside())

    assert [bool(row["undo_url"]) for row in found["history"]] == [True, False, False]


def test_a_conflict_tells_three_values_and_keeps_ones_own(world: worlds.World) -> None:
    """Where both changed the same rule it is marked."""
    form = a_form(world.group, grace_period=11, suspend_grace=5)
    model_factories.a_policy_version(world.group, by=world.people["administrator"], grace_period=12)

    found = policy.conflicting(world.people["manager"], world.group, form, beside())

    rows = {row["label"]: row for row in found["conflict"]["rows"]}
    assert (rows["Grace"]["before"], rows["Grace"]["theirs"], rows["Grace"]["mine"]) == ("10", "12", "11")
    assert (rows["Grace"]["is_conflict"], rows["Grace before a suspend"]["is_conflict"]) == (True, False)
    assert (found["form"]["grace_period"].value(), found["form"]["suspend_grace"].value()) == (12, 5)


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "every kind"), ([], "nothing"), (["cpu", "mem"], "cpu, mem")],
)
def test_released_kinds_are_read_and_written_alike(world: worlds.World, value: Any, text: str) -> None:
    """Empty is every kind, ``nothing`` is none."""
    row = model_factories.a_policy_version(world.group, suspend_releases=value)

    assert policy_form.text("suspend_releases", value) == text
    assert a_form(world.group).rules()["suspend_releases"] == value
    assert row.suspend_releases == value


def a_preview(stops: int, mode: str = "suspend") -> preview.Preview:
    """Return a preview with so many stops."""
    session = models.Session(pk=1, owner=models.User(pk=1), queue=models.Queue(slug="q"), slots={})
    victim = preview.PreviewVictim(
        session=session,
        preemptor=session,
        axis="owner",
        own_value=1,
        preemptor_value=2,
        node="n",
        slots={},
        ran_s=60,
        action="kill",
        mode=mode,
        lost={},
        stays_away="",
    )
    start = preview.PreviewStart(session, "n", waited_s=30, grace_s=10, saved_s=60)
    now = model_factories.ago(0)
    example = exposures.Protected(
        "not-lower", 2, {}, models.Session(name="s"), {"own": 5, "theirs": 5}, "owner"
    )
    shown = exposures.Exposures([example], 0, {}, [])
    return preview.Preview(1, now, [victim] * stops, [start] if stops else [], shown)


@pytest.mark.parametrize(
    ("was", "state", "stops", "label"),
    [
        ("off", "on", 2, "Turn on and stop 2 sessions"),
        ("on", "on", 1, "Save and stop 1 session"),
        ("off", "on", 0, "Turn on"),
        ("on", "off", 3, "Turn off"),
        ("off", "shadow", 3, "Switch to shadow"),
        ("off", "off", 0, "Save the policy"),
    ],
)
def test_the_button_says_what_it_does(
    world: worlds.World, was: str, state: str, stops: int, label: str
) -> None:
    """Verb, object and count."""
    model_factories.a_policy_version(world.group, preemption_state=was)
    form = a_form(world.group, preemption_state=state)

    found = policy_preview.load(world.people["manager"], form, a_preview(stops), [])

    assert found["confirm_label"] == label
    assert found["stops"] == (stops if state == "on" else 0)


@pytest.mark.parametrize(("state", "told"), [("on", ["Careful."]), ("shadow", ["Careful."]), ("off", [])])
def test_dangerous_settings_are_warned_of(world: worlds.World, state: str, told: list[str]) -> None:
    """Where somebody could be stopped."""
    form = a_form(world.group, preemption_state=state)
    caution = rule_warnings.Caution(rule_warnings.Code.MUTUAL_QUEUES, "Careful.")

    assert policy_preview.load(world.people["manager"], form, a_preview(0), [caution])["warnings"] == told


@pytest.mark.parametrize(
    ("state", "stops", "needs"), [("on", 6, True), ("on", 5, False), ("shadow", 6, False)]
)
def test_many_victims_need_the_name_of_the_group(
    world: worlds.World, state: str, stops: int, needs: bool
) -> None:
    """Where they would really be stopped."""
    form = a_form(world.group, preemption_state=state)

    assert policy_preview.load(world.people["manager"], form, a_preview(stops), [])["needs_name"] == needs


def test_protection_is_counted_by_reason(world: worlds.World) -> None:
    """With a link to what it means, and an example with its numbers."""
    found = policy_preview.load(world.people["manager"], a_form(world.group), a_preview(1, "terminate"), [])

    row = found["protected"][0]
    assert (row["count"], row["help_url"]) == (2, "/help/reasons/not-lower/")
    assert row["example"].startswith("s: ")


def test_the_tab_names_the_policy_of_each_queue_and_what_is_gone(world: worlds.World) -> None:
    """Nothing takes the place of one that is gone; a preview does not ask."""
    models.Queue.objects.filter(slug="urgent").update(preempt_policy="vanished")

    found = policy.load(world.people["manager"], world.group, a_form(world.group), sent=beside())

    assert [(one.queue, one.policy, one.fault) for one in found["choosers"]] == [
        ("background", "lowest_priority_first", ""),
        ("normal", "lowest_priority_first", ""),
        ("urgent", "vanished", "is not installed"),
    ]
    assert (found["owner_policy"], found["may_choose"]) == ("owner_job_priority", False)
    form = a_form(world.group)
    assert (
        policy.load(world.people["manager"], world.group, form, sent=beside(), with_history=False)["choosers"]
        == []
    )
