"""The policy of a group, the first steps, help, log-in and errors."""

from __future__ import annotations

from typing import Any

from django import forms

from tests.xceweb.common.samples import frame, overview
from xceweb.console.views import announcements as announcement_views


class PolicyForm(forms.Form):
    """A form with some rules, and nothing behind it."""

    preemption_state = forms.ChoiceField(choices=[(name, name) for name in ("off", "shadow", "on")])
    version = forms.IntegerField(widget=forms.HiddenInput)
    reason = forms.CharField(widget=forms.Textarea({"class": "textarea", "rows": 3}))
    preemption_mode = forms.ChoiceField(
        choices=[("reschedule", "reschedule"), ("suspend", "suspend")],
        widget=forms.Select({"class": "select"}),
    )
    preemption_min_runtime = forms.IntegerField(
        widget=forms.TextInput({"class": "input", "data-in-force": "300"})
    )
    grace_period = forms.IntegerField(widget=forms.TextInput({"class": "input", "data-in-force": "10"}))


class WhenForm(forms.Form):
    """From when and for how long, and nothing behind it."""

    when = forms.ChoiceField(choices=[("now", "Now"), ("at", "At a time"), ("for", "For a while, then back")])
    at = forms.DateTimeField(widget=forms.DateTimeInput({"class": "input", "type": "datetime-local"}))
    at_utc = forms.CharField(widget=forms.HiddenInput)
    for_amount = forms.IntegerField(widget=forms.NumberInput({"class": "input"}))
    for_unit = forms.ChoiceField(choices=[("hours", "hours")], widget=forms.Select({"class": "select"}))


class AssentForm(forms.Form):
    """The name of the group, and the password again."""

    confirm = forms.CharField(widget=forms.TextInput({"class": "input"}))
    password = forms.CharField(widget=forms.PasswordInput({"class": "input"}))


_CHOOSER = {
    "policy": "lowest_priority_first",
    "description": "The fewest sessions that make enough room.",
    "package": "shipped",
    "fault": "",
}


def policy() -> dict[str, Any]:
    """A manager who is about to switch preemption on."""
    data = {
        "preemption_state": "on",
        "version": 8,
        "reason": "One week in shadow looked right.",
        "preemption_mode": "reschedule",
    }
    form = PolicyForm({**data, "preemption_min_runtime": 600, "grace_period": 10})
    return {
        **frame.frame("group:l4", ("Groups", "/"), ("l4", "/groups/l4/"), ("Policy", ""), reader="carol"),
        "group": {"slug": "l4", "name": "l4", "state": "shadow", "summary": "6 nodes, 4 x L4 each"},
        "tabs": overview.tabs("Policy"),
        "policy": {"version": 8, "state": "shadow", "set_by": "carol", "set_at": frame.ago(days=7)},
        "can_change": True,
        "form": form,
        "rules": rules(form),
        "more_rules": [
            _rule(form["grace_period"], "Grace period", "From the warning signal to the kill.", "s")
        ],
        "when": WhenForm({"when": "for", "for_amount": 2, "for_unit": "hours"}),
        "when_choice": "for",
        "assent": AssentForm({"confirm": "", "password": ""}),
        "asks_password": True,
        "planned": planned(),
        "dropped": {
            "which": "change",
            "at": frame.ago(hours=1),
            "how": "was dropped, so that it overwrites nothing",
            "why": "dave changed preemption meanwhile, in version 8",
        },
        "undo": {"version": 8, "at": frame.ago(minutes=1), "by": "carol", "url": "#"},
        "shadow": shadow(),
        "preview": preview(),
        "conflict": None,
        "history": history(),
        "choosers": [
            {**_CHOOSER, "queue": "batch"},
            {**_CHOOSER, "queue": "urgent", "policy": "fair_first", "fault": "is not installed"},
        ],
        "owner_policy": "owner_job_priority",
        "may_choose": False,
        "history_more": {"label": "All 8 versions", "url": "#"},
    }


def shadow() -> dict[str, Any]:
    """A week in shadow."""
    figure = {"unit": "", "tone": "cost"}
    return {
        "since": frame.ago(days=7),
        "until": None,
        "sentence": "On would have stopped **14 sessions** of **2** people for **5 sessions**, which have waited"
        " **31 h** since, **1** of them until now.",
        "figures": [
            {**figure, "value": "14", "label": "sessions would have stopped"},
            {**figure, "value": "22,320", "label": "GPU-seconds of work lost, 6.2 GPU-hours"},
        ],
        "owners": [{"owner": "bob", "stopped": 12, "helped": 1, "lost": "20,160 GPU-s"}],
        "repeats": [{"label": "sweep-42", "url": "#", "times": 3}],
        "more_repeats": 2,
        "note": "Nothing was stopped, so each of these decisions was made as if those before it were not.",
    }


def planned() -> dict[str, Any]:
    """The way back of a trial."""
    return {
        "is_return": True,
        "at": frame.ago(hours=-2),
        "state": "off",
        "changes": ["Minimum runtime: 300"],
        "for": "2 h",
        "by": "carol",
        "version": 8,
        "reason": "Trial for the storage move.",
        "cancel_url": "#",
    }


def conflict() -> dict[str, Any]:
    """Another manager was faster."""
    rows = [
        {
            "label": "Minimum runtime",
            "before": "300 s",
            "theirs": "900 s",
            "mine": "600 s",
            "is_conflict": True,
        },
        {"label": "Grace period", "before": "10 s", "theirs": "20 s", "mine": "10 s", "is_conflict": False},
    ]
    found = {
        "by": "dave",
        "at": frame.ago(minutes=2),
        "reason": "Longer protection for trainings.",
        "version": 9,
        "rows": rows,
    }
    form = PolicyForm({"preemption_state": "on", "version": 9, "preemption_mode": "reschedule", "reason": ""})
    return {**policy(), "conflict": found, "form": form, "preview": None}


def seen_by_viewer() -> dict[str, Any]:
    """The same page for somebody who may only look."""
    return {**policy(), "can_change": False}


def _rule(
    field: forms.BoundField, label: str, effect: str, suffix: str = "", *, changed: bool = False
) -> dict[str, Any]:
    origin = "Changed: was 300 s in v8. Default: 0, off" if changed else "Default"
    return {
        "field": field,
        "label": label,
        "effect": effect,
        "origin": origin,
        "is_changed": changed,
        "suffix": suffix,
    }


def rules(form: PolicyForm) -> list[dict[str, Any]]:
    """Two rules, one of them changed."""
    safe = "A session that has run for less than 10 minutes is left alone."
    back = "It goes back to the queue with its id, priority and first submit time."
    return [
        _rule(form["preemption_mode"], "What happens to a stopped session", back),
        _rule(form["preemption_min_runtime"], "Minimum runtime", safe, "s", changed=True),
    ]


def preview() -> dict[str, Any]:
    """Who would be stopped now."""
    return {
        "round": 18_442,
        "at": frame.ago(seconds=1),
        "sentence": "Switched on now, **3 sessions of 2 people stop** and **2 sessions start**, together **1 "
        "h 52 min** sooner.",
        "note": "Seven days in shadow say the same: on would have stopped 14 sessions of 2 people and saved "
        "31 h of waiting.",
        "stops": 3,
        "needs_name": True,
        "confirm_label": "Turn on and stop 3 sessions",
        "warnings": [],
        "told": "alice and bob are told with your reason. You can undo until the next round acts.",
        "figures": [
            {"value": "3", "unit": "", "label": "sessions stop", "tone": "cost"},
            {"value": "2", "unit": "", "label": "sessions start", "tone": "gain"},
            {"value": "1", "unit": "h 52 min", "label": "waiting saved", "tone": "gain"},
            {"value": "20,520", "unit": "", "label": "GPU-seconds lost", "tone": "cost"},
        ],
        "plans": [
            _plan("serve-llm", "carol, production, priority 80", 1),
            _plan("eval-nightly", "alice, production, priority 60", 2),
        ],
        "more": "",
        "protected": [
            {
                "label": "Not lower",
                "help_url": "/help/reasons/#not-lower",
                "count": 3,
                "slots": frame.slots(6),
                "example": "serve-embed, priority 80, is not below 80",
            },
            {
                "label": "Minimum runtime",
                "help_url": "/help/reasons/#min-runtime",
                "count": 2,
                "slots": frame.slots(3),
                "example": "for another 6 and 9 min",
            },
        ],
        "groups": None,
        "away": [
            {
                "reason": "it is interactive: it starts anew, without its state",
                "count": 1,
                "shown": [{"label": "notebook-3", "url": "#"}],
                "more": 0,
            }
        ],
        "untouched": {"count": 9, "slots": frame.slots(15)},
        "exposure": [
            {
                "owner": "alice",
                "stop": 1,
                "could": 0,
                "safe": 0,
                "by_others": 0,
                "slots": frame.slots(2),
                "lost": "5,880 GPU-s",
                "gains": "starts eval-nightly",
            },
            {
                "owner": "bob",
                "stop": 2,
                "could": 1,
                "safe": 3,
                "by_others": 1,
                "slots": frame.slots(2),
                "lost": "14,640 GPU-s",
                "gains": "starts nothing",
            },
        ],
    }


def _plan(label: str, who: str, count: int) -> dict[str, Any]:
    victims = [
        {
            "label": f"sweep-{42 + i}",
            "url": "",
            "owner": "bob",
            "queue": "batch",
            "value": 10,
            "slots": frame.slots(1, 8),
            "had_run_s": 8_040,
        }
        | {"lost": "8,040 GPU-s", "then": "requeued"}
        for i in range(count)
    ]
    return {
        "label": label,
        "url": "#",
        "who": who,
        "need": "needs 2 GPUs, starts on gpu-15: 1 free, 1 short",
    } | {
        "gain": "1 h 8 min sooner",
        "waited": "has waited 41 min",
        "victims": victims,
    }


def history() -> list[dict[str, Any]]:
    """Versions of the policy."""
    row = {"who": "carol", "from_state": "", "to_state": "", "changes": [], "undo_url": ""}
    watch = {"reason": "Watch one week before we switch it on.", "undo_url": "/groups/l4/policy/undo/"}
    return [
        {**row, **watch, "version": 8, "at": frame.ago(days=7), "from_state": "off", "to_state": "shadow"},
        {
            **row,
            "version": 7,
            "at": frame.ago(days=14),
            "changes": ["mode terminate → reschedule"],
            "reason": "Nobody should lose a place.",
        },
    ]


def first_steps() -> dict[str, Any]:
    """An empty installation, two steps done."""
    step = {"is_done": False, "commands": [], "link": None}
    return {
        **frame.frame("overview", ("First steps", ""), reader="admin"),
        "done": 2,
        "steps": [
            {
                **step,
                "title": "Make a resource group",
                "text": "A group is a set of nodes with one preemption policy.",
                "is_done": True,
            },
            {
                **step,
                "title": "Add a node",
                "text": "Enroll its agent and start it there.",
                "commands": [{"id": "c1", "text": "bin/manage agent_enroll gpu-01 --group a100"}],
            },
            {**step, "title": "Make a queue", "text": "Sessions are submitted to queues.", "is_done": True},
            {
                **step,
                "title": "Submit a session",
                "text": "Anything that runs in a shell.",
                "link": {"label": "Submit a session", "url": "/sessions/new/"},
            },
        ],
    }


def reasons() -> dict[str, Any]:
    """The glossary."""
    no_room = {
        "code": "no-resources",
        "label": "No room",
        "meaning": "No node has all that was asked for free at once.",
    }
    held = {"code": "held", "label": "Held", "meaning": "Somebody holds it back."}
    lower = {
        "code": "not-lower",
        "label": "Not lower",
        "meaning": "Only a strictly lower number can be stopped.",
    }
    return {
        **frame.frame("help", ("Reasons explained", "")),
        "parts": [
            {
                "id": "pending",
                "heading": "Why a session waits",
                "text": "Each waiting session has one headline.",
                "reasons": [no_room, held],
            },
            {
                "id": "verdicts",
                "heading": "Why another was not stopped",
                "text": "Each candidate has one verdict.",
                "reasons": [lower],
            },
        ],
    }


def reason() -> dict[str, Any]:
    """One reason's page."""
    page = {
        "meaning": "Somebody holds it back, and every round passes it over.",
        "user": "Release it on its page.",
        "administrator": "Operators may release it too.",
    }
    held = {"code": "held", "label": "Held", "meaning": "Somebody holds it back.", "page": page}
    part = {
        "id": "pending",
        "heading": "Why a session waits",
        "text": "One headline each.",
        "reasons": [held],
    }
    crumbs = (("Reasons explained", "/help/reasons/"), ("Held", ""))
    return {**frame.frame("help", *crumbs), "part": part, "reason": held}


class LoginForm(forms.Form):
    """A log-in form that was refused."""

    username = forms.CharField(widget=forms.TextInput({"class": "input", "autocomplete": "username"}))
    password = forms.CharField(
        widget=forms.PasswordInput({"class": "input", "autocomplete": "current-password"})
    )

    def clean(self) -> None:
        """Refuse, as a wrong password does."""
        raise forms.ValidationError("Name or password is wrong.")


def login() -> dict[str, Any]:
    """The log-in page after a wrong password."""
    return {
        "title": "Sign in",
        "form": LoginForm({"username": "alice", "password": "x"}),
        "next": "/",
        "user": None,
    }


def refused() -> dict[str, Any]:
    """A page that is not there, or not allowed."""
    return frame.frame("", ("Not found", ""))


def roles() -> dict[str, Any]:
    """The roles of a group as a viewer sees them."""
    people = [
        ("carol", "administrator", "administers the whole installation", True),
        ("dave", "manager", "belongs to the team operations, which is manager here", True),
        ("alice", "viewer", "was made viewer here", False),
    ]
    return {
        **frame.frame("group:l4", ("l4", "/groups/l4/"), ("Roles", "")),
        "group": {"slug": "l4", "name": "l4", "state": "shadow", "summary": ""},
        "tabs": overview.tabs("Roles"),
        "actions": [],
        "sentence": "2 people may flip the switch and set the rules: **carol**, **dave**.",
        "people": [
            {
                "username": name,
                "is_me": name == "alice",
                "role": role,
                "why": why,
                "rights": ["see the group", "submit"],
                "may_switch": may_switch,
            }
            for name, role, why, may_switch in people
        ],
        "is_complete": False,
    }


def node_keys() -> dict[str, Any]:
    """An administrator who has just made a key, with an old log-in, beside one that was revoked."""
    reason = {"name": "reason", "label": "Reason", "type": "text", "value": "", "required": False}
    revocation = {
        "key": "revoke-k2",
        "label": "Revoke",
        "url": "/nodes/gpu-1/keys/k2/revoke/",
        "title": "Revoke k2?",
        "text": "An agent that signs with it is not heard any more.",
        "button": "Revoke the key",
        "tone": "danger",
        "fields": [reason],
    }
    values = {"key_id": "k2", "created_at": frame.ago(days=1), "revoked_at": None, "revocation": revocation}
    old = {
        "key_id": "k1",
        "created_at": frame.ago(days=90),
        "revoked_at": frame.ago(days=1),
        "revocation": None,
    }
    return {
        **frame.frame("nodes", ("Keys", "")),
        "node": "gpu-1",
        "form": AssentForm(),
        "needs_password": True,
        "made": {
            "file": '{"node": "gpu-1", "key_id": "k2"}',
            "command": "python -m scheduler.agent --node gpu-1",
        },
        "keys": [values, old],
    }


def announcements() -> dict[str, Any]:
    """One that stands, one that is over; both tones above the page."""
    values = {"made_at": frame.ago(days=1), "made_by_name": "admin", "until": frame.later(days=1)}
    ending = {
        "key": "end-2",
        "label": "End",
        "url": "/announcements/2/end/",
        "title": "End this announcement?",
        "text": "Nobody reads it any more.",
        "button": "End it",
        "tone": "primary",
        "fields": [],
    }
    stands = {"pk": 2, "text": "Node gpu-7 gets new memory at noon.", "tone": "warning", "ending": ending}
    over = {"pk": 1, "text": "Welcome.", "tone": "info", "ending": None}
    return {
        **frame.frame("help", ("Announcements", "")),
        "announcements": [stands, over],
        "form": announcement_views.AnnouncementForm(),
        "rows": [{**values, **stands}, {**values, **over, "until": None}],
        "most": 3,
    }
