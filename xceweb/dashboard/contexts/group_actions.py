"""What a manager may press on a group's page when something goes wrong, with what it means before it is pressed."""

from __future__ import annotations

from typing import Any

from django import urls

from scheduler import models
from scheduler.selectors import permissions

_REASON = {"name": "reason", "label": "Reason", "type": "text", "value": "", "required": True}
#: verb -> (label, question, consequence, tone)
_STARTING = {
    "stop-starting": (
        "Stop starting",
        "Stop starting sessions in {}?",
        "Nothing new starts or resumes there until a manager lets it. What runs goes on. Sessions that are being"
        " stopped to make room are told to go on, where that can still be.",
        "danger",
    ),
    "start-again": (
        "Start again",
        "Let sessions of {} start again?",
        "Waiting sessions start in the next round, in their order.",
        "primary",
    ),
}


def of(viewer: models.User, group: models.ResourceGroup) -> list[dict[str, Any]]:
    """Return the actions that are possible now; none for those who may not change the group's rules."""
    if not permissions.can_change_policy(viewer, group) or group.policy is None:
        return []
    verb = "stop-starting" if group.policy.starting else "start-again"
    actions = [_action(group, verb, _STARTING[verb])]
    count = models.Reservation.objects.filter(node__group=group, is_consumed=False).count()
    if count:
        actions.append(_action(group, "withdraw-all", _withdraw_all(count)))
    return actions


def _withdraw_all(count: int) -> tuple[str, str, str, str]:
    what = "1 preemption or wait is" if count == 1 else f"{count} preemptions and waits are"
    text = (
        f"{what} under way. Sessions that are only warned or suspended for them go on; a kill that has begun cannot be"
        " undone. For one minute nobody in the group is stopped for the same sessions again."
    )
    return "Withdraw all under way", "Take back every preemption under way in {}?", text, "preempt"


def _action(group: models.ResourceGroup, verb: str, words: tuple[str, str, str, str]) -> dict[str, Any]:
    label, question, text, tone = words
    return {
        "key": verb,
        "label": label,
        "url": urls.reverse("dashboard:group-act", args=[group.slug, verb]),
        "title": question.format(group.slug),
        "text": text,
        "button": label,
        "tone": tone,
        "fields": [_REASON],
    }
