"""The form of one queue: everything that an administrator sets, the version that it was made from, and the reason."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms, http

from scheduler import errors, models
from scheduler.core import entities, units
from scheduler.core import errors as core_errors
from scheduler.core.preemption import shipped
from scheduler.plugins import catalog
from scheduler.selectors import slot_kinds
from scheduler.services import queues
from xceweb.dashboard.contexts import words

_SELECT = {"class": "select"}
_INPUT = {"class": "input", "autocomplete": "off", "spellcheck": "false"}
_STATES = {
    entities.QueueState.OPEN: "open: takes sessions and starts them",
    entities.QueueState.NO_SUBMIT: "no_submit: takes no new ones, starts those that wait",
    entities.QueueState.STOPPED: "stopped: takes none and starts none",
}


def _text(label: str, help_text: str, *, most: int, rows: int = 0) -> forms.CharField:
    widget = (
        forms.Textarea(attrs={"class": "textarea", "rows": rows, "spellcheck": "false"})
        if rows
        else forms.TextInput(attrs=dict(_INPUT))
    )
    return forms.CharField(
        label=label,
        required=False,
        max_length=most,
        widget=widget,
        help_text=help_text,
        show_hidden_initial=True,
    )


def _number(label: str, help_text: str, *, most: int, required: bool = False) -> forms.IntegerField:
    widget = forms.NumberInput(attrs={"class": "input"})
    return forms.IntegerField(
        label=label,
        required=required,
        min_value=0,
        max_value=most,
        widget=widget,
        help_text=help_text,
        show_hidden_initial=True,
    )


def _choice(label: str, choices: Sequence[tuple[str, str]], *, required: bool = False) -> forms.ChoiceField:
    return forms.ChoiceField(
        label=label,
        required=required,
        choices=choices,
        widget=forms.Select(attrs=dict(_SELECT)),
        show_hidden_initial=True,
    )


class QueueForm(forms.Form):
    """Reads the fields; what is possible is checked by the service. Each carries what it was when the page was made."""

    version = forms.IntegerField(widget=forms.HiddenInput)
    description = _text("Description", "One line for those who submit.", most=200)
    state = _choice("State", [(state.value, text) for state, text in _STATES.items()], required=True)
    default_priority = _number("Default priority", "Empty: what the owner's policy says.", most=100)
    max_priority = _number(
        "Highest priority", "Who waits above a lowered cap is lowered, too.", most=100, required=True
    )
    max_concurrent_sessions = _number(
        "Sessions at most", "At the same time; empty: no limit.", most=2**31 - 1
    )
    max_slots = _text(
        "Slots at most", "One KIND=AMOUNT a line, such as cuda.device=8; empty: no limit.", most=2_000, rows=2
    )
    submit_users = _text("People who may submit", "User names with commas.", most=10_000)
    submit_teams = _text(
        "Teams who may submit", "Names with commas. Nobody named here or there: every submitter.", most=10_000
    )
    preemptible = forms.BooleanField(
        label="Its sessions can be preempted",
        required=False,
        help_text="By sessions of higher priority in queues that name this one.",
        show_hidden_initial=True,
    )
    preemption_mode = _choice(
        "What happens to its sessions then",
        [("", "as the group says"), *((mode.value, mode.value) for mode in entities.PreemptionMode)],
    )
    preemptible_queues = forms.MultipleChoiceField(
        label="May stop sessions of",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        show_hidden_initial=True,
    )
    preempt_policy = _choice("Chooses victims by", [])
    reason = forms.CharField(
        required=False,
        max_length=500,
        label="Reason, kept with the change",
        widget=forms.TextInput(attrs={"class": "input", "required": True}),
    )

    def __init__(self, queue: models.Queue, data: Any = None) -> None:
        super().__init__(data, initial={**values(queue), "version": queue.version})
        others = models.Queue.objects.exclude(pk=queue.pk).order_by("slug").values_list("slug", flat=True)
        self.fields["preemptible_queues"].choices = [(slug, slug) for slug in others]
        self.fields["preempt_policy"].choices = _policies(queue.preempt_policy)

    @property
    def initial_takes(self) -> str:
        """Return the hidden fields that say which queues it might stop when the page was made; boxes do not say it."""
        return self["preemptible_queues"].as_hidden(only_initial=True)

    def clean_max_slots(self) -> dict[str, int]:
        """Read KIND=AMOUNT lines into the smallest units."""
        kinds, found = slot_kinds.load(), {}
        for line in self.cleaned_data["max_slots"].split():
            name, _, amount = line.partition("=")
            if name not in kinds:
                raise forms.ValidationError(f"There is no slot kind {name!r}; there are: {', '.join(kinds)}.")
            try:
                found[name] = units.parse_amount(kinds[name], amount)
            except core_errors.BadAmount as error:
                raise forms.ValidationError(f"{name}: {error}.") from None
        return found

    def clean_submit_users(self) -> list[str]:
        """Read names with commas."""
        return _names(self.cleaned_data["submit_users"])

    def clean_submit_teams(self) -> list[str]:
        """Read names with commas."""
        return _names(self.cleaned_data["submit_teams"])

    def changes(self) -> dict[str, Any]:
        """Return the fields that differ from what the page showed, of a form that ``is_valid``."""
        return {name: self.cleaned_data[name] for name in queues.FIELDS if name in self.changed_data}

    def add_refusal(self, refusal: errors.Refusal) -> None:
        """Show each fault of a refusal at its field."""
        for name, fault in refusal.fields.items():
            text = fault[:1].upper() + fault[1:]
            self.add_error(name if name in self.fields else None, text if text.endswith(".") else f"{text}.")
        if not refusal.fields:
            self.add_error(None, str(refusal))


def _names(text: str) -> list[str]:
    return sorted({part.strip() for part in text.split(",") if part.strip()})


def _policies(current: str) -> list[tuple[str, str]]:
    """Return the policies to choose from; one that is gone stays chosen, and says so, until another is chosen."""
    known = [one.name for one in catalog.offers()]
    gone = [(current, f"{current}: cannot be used, stops nobody")] if current and current not in known else []
    return [("", f"{shipped.DEFAULT}, the default"), *((name, name) for name in known), *gone]


def values(queue: models.Queue) -> dict[str, Any]:
    """Return field -> value of a queue, as the form shows it."""
    found = {name: queues.value_of(queue, name) for name in queues.FIELDS}
    kinds = slot_kinds.load()
    limits = [
        f"{name}={units.format_amount(slot_kinds.of(name, kinds), amount)}"
        for name, amount in sorted(queue.max_slots.items())
    ]
    people, teams = ", ".join(found["submit_users"]), ", ".join(found["submit_teams"])
    return found | {"max_slots": "\n".join(limits), "submit_users": people, "submit_teams": teams}


def rebased(queue: models.Queue, sent: QueueForm) -> tuple[QueueForm, list[dict[str, Any]]]:
    """
    Return the form of somebody who was overtaken on the queue as it is now, and where the two changes differ.

    Where they do not collide the sent values stay in it; where they do, the newer ones do.
    """
    theirs, data, rows = values(queue), http.QueryDict(mutable=True), []
    data["version"], data["reason"] = str(queue.version), sent.data.get("reason", "")
    for name in queues.FIELDS:
        before, mine, now = (
            _sent(sent, f"initial-{name}", name),
            _sent(sent, name, name),
            _written(theirs[name]),
        )
        data.setlist(f"initial-{name}", now)
        data.setlist(name, mine if now == before else now)
        if name == "preemptible" and data.getlist(name) == ["False"]:
            del data[name]
        if mine != before or now != before:
            rows.append(_row(sent, name, (before, now, mine)))
    return QueueForm(queue, data), rows


def _row(sent: QueueForm, name: str, each: tuple[list[str], list[str], list[str]]) -> dict[str, Any]:
    before, now, mine = each
    told = [_word(name, value) for value in each]
    return {
        "label": sent.fields[name].label,
        "before": told[0],
        "theirs": told[1],
        "mine": told[2] if mine != before else "as before",
        "is_conflict": mine != before and now not in (before, mine),
    }


def _word(name: str, value: list[str]) -> str:
    if name == "preemptible":
        return "yes" if value == ["True"] else "no"
    return ", ".join(part for part in value if part) or words.NOTHING


def _sent(form: QueueForm, key: str, name: str) -> list[str]:
    """Return what was sent of a field, in the way in which ``_written`` writes a value."""
    if name == "preemptible":
        return [str(form.data.get(key, "") not in ("", "False"))]
    found = [text.replace("\r\n", "\n") for text in form.data.getlist(key)]
    return sorted(found) if name == "preemptible_queues" else found or [""]


def _written(value: Any) -> list[str]:
    if isinstance(value, list):
        return sorted(value)
    return ["" if value is None else str(value)]
