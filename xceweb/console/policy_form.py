"""The policy form: the rules that a group can set, the version that they were made from, and the reason."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms

from scheduler import errors, models
from scheduler.selectors import slot_kinds

RULES = models.PolicyVersion.RULES
_MODEL = models.PolicyVersion._meta
_SELECT = {"class": "select"}


#: rule -> (label, effect, unit)
TEXTS: Mapping[str, tuple[str, str, str]] = {
    "preemption_mode": (
        "What happens to a victim",
        "It ends, returns to the queue, or stands still and goes on later.",
        "",
    ),
    "preemption_order": ("Who goes first", "Among equally low sessions.", ""),
    "preemption_scope": (
        "Whose sessions may be stopped",
        "The owner's own, those of preemptible queues, or first one and then the other.",
        "",
    ),
    "preemption_min_runtime": (
        "Protected time",
        "A session that has just started or resumed is not stopped for so long; 0 = no protection.",
        "s",
    ),
    "grace_period": ("Grace", "From the warning signal to the kill.", "s"),
    "suspend_releases": (
        "A suspend releases",
        "Kinds that a suspended session gives back. Leave out mem and cuda.device: stopped processes keep them.",
        "",
    ),
    "suspend_grace": (
        "Grace before a suspend",
        "From SIGTSTP to SIGSTOP, for programs that save their state.",
        "s",
    ),
    "in_flight_timeout": ("Time limit for making room", "Beyond the grace; then the reservation ends.", "s"),
    "max_preemptions_per_session": (
        "Most preemptions of one session",
        "After so many it is protected; empty = no limit.",
        "times",
    ),
    "cancel_unconfirmed_dispatch": (
        "Starts may be cancelled",
        "A start that its node has not confirmed may give way.",
        "",
    ),
    "requeue_suspended": (
        "Suspended sessions may be requeued",
        "They may be ended for the slots that they still hold.",
        "",
    ),
    "max_suspend_time": ("Longest suspension", "Then it returns to the queue; empty = no limit.", "s"),
    "max_suspended_per_node": ("Most suspended sessions on a node", "Empty = no limit.", "sessions"),
    "starvation_after": (
        "Longest wait at the head of the line",
        "Then those behind leave room for the first that lacks it; 0 = nobody ever does.",
        "s",
    ),
    "default_is_preemptible": ("New sessions may be preempted", "Unless they say otherwise.", ""),
    "placement": ("Placement", "Which free node is taken.", ""),
    "silent_node": (
        "A node that falls silent",
        "keep: its sessions hold their slots until an administrator declares it lost. fence: it ends them itself after"
        " 300 s without contact, and after 600 s they are lost or start anew. It cannot tell a broken network from a"
        " broker that is away.",
        "",
    ),
    "starting": ("Sessions start", "Off = emergency: nothing new starts in this group.", ""),
}
#: The rules that stand at the top; the others are folded.
FIRST = (
    "preemption_mode",
    "preemption_scope",
    "preemption_order",
    "preemption_min_runtime",
    "grace_period",
    "suspend_releases",
)


class PolicyForm(forms.Form):
    """The rules that it offers, the switch, the reason. What is possible is checked by the service."""

    version = forms.IntegerField(widget=forms.HiddenInput)
    preemption_state = forms.ChoiceField(choices=_MODEL.get_field("preemption_state").choices)
    reason = forms.CharField(
        required=False,
        max_length=500,
        widget=forms.Textarea(attrs={"class": "textarea", "rows": 2, "required": True}),
    )

    def __init__(self, current: models.PolicyVersion, data: Any = None) -> None:
        super().__init__(data, initial={**values(current), "version": current.version})
        self.current = current
        for name in TEXTS:
            self.fields[name] = _field(name)

    def state(self) -> str:
        """Return the switch as it stands in the form; one that is missing or unknown counts as in force."""
        wanted = self["preemption_state"].value()
        known = {value for value, _ in self.fields["preemption_state"].choices}
        return wanted if wanted in known else self.current.preemption_state

    def rules(self) -> dict[str, Any]:
        """Return rule -> value as the service takes it, of a form that ``is_valid``."""
        return {name: self.cleaned_data[name] for name in RULES}

    def changes(self) -> dict[str, Any]:
        """Return the rules whose value differs from the version that the form stands on."""
        return {name: value for name, value in self.rules().items() if value != getattr(self.current, name)}

    def add_refusal(self, refusal: errors.Refusal) -> None:
        """Show each fault of a refusal at its field."""
        for name, fault in refusal.fields.items():
            text = fault[:1].upper() + fault[1:]
            self.add_error(name if name in self.fields else None, text if text.endswith(".") else f"{text}.")
        if not refusal.fields:
            self.add_error(None, str(refusal))


def values(row: models.PolicyVersion) -> dict[str, Any]:
    """Return rule -> value of one version, as the fields show it."""
    return {name: _shown(name, getattr(row, name)) for name in RULES}


def _shown(name: str, value: Any) -> Any:
    if name == "suspend_releases":
        return "" if value is None else ", ".join(value) or "nothing"
    return value


def text(name: str, value: Any) -> str:
    """Return a value of a rule in words, for the history and for conflicts."""
    shown = _shown(name, value)
    if isinstance(shown, bool):
        return "yes" if shown else "no"
    if shown in (None, ""):
        return "every kind" if name == "suspend_releases" else "no limit"
    return str(shown).replace("_", " ")


def label(name: str) -> str:
    """Return what a rule is called."""
    if name == "preemption_state":
        return "Preemption"
    return TEXTS[name][0] if name in TEXTS else name.replace("_", " ").capitalize()


class KindsField(forms.CharField):
    """Names of slot kinds with commas: empty = every kind (None), ``nothing`` = none of them."""

    def clean(self, value: Any) -> list[str] | None:
        """Return the names, sorted; None for every kind."""
        written = super().clean(value).strip()
        if not written:
            return None
        names = sorted({part.strip() for part in written.split(",") if part.strip()})
        return [] if names == ["nothing"] else names


def _field(name: str) -> forms.Field:
    model_field = _MODEL.get_field(name)
    title = label(name)
    if name == "suspend_releases":
        hint = ", ".join(slot_kinds.load())
        attrs = {"class": "input", "placeholder": f"every kind: {hint}"}
        return KindsField(label=title, required=False, max_length=500, widget=forms.TextInput(attrs=attrs))
    if model_field.choices:
        widget = forms.Select(attrs=dict(_SELECT))
        return forms.ChoiceField(label=title, choices=model_field.choices, widget=widget)
    if model_field.get_internal_type() == "BooleanField":
        return forms.BooleanField(label=title, required=False)
    widget = forms.NumberInput(attrs={"class": "input", "min": 0})
    return forms.IntegerField(
        label=title, required=not model_field.null, min_value=0, max_value=2**31 - 1, widget=widget
    )
