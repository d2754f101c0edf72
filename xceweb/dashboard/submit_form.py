"""The submit form: what people write, and how it becomes the service's request."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from django import forms

from scheduler import errors, models
from scheduler.core import entities
from scheduler.selectors import permissions, slot_kinds
from scheduler.services import submission

_TYPES = [(kind.value, kind.value) for kind in entities.SessionType if kind != entities.SessionType.SYSTEM]
#: Said of a group or queue that does not exist and of one that is closed to this person alike (DESIGN 9).
_NOT_OFFERED = "“%(value)s” is not there, or takes no sessions of yours: choose one from the list."
_LENGTH = re.compile(r"(\d{1,9})\s*([smhd]?)\Z")
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3_600, "d": 86_400}
_FIRST = {"cpu": "1", "mem": "1g", "cuda.device": "0"}
_HINTS = {"cpu": "2 or 0.5", "mem": "512m or 4g", "cuda.device": "whole devices"}
#: field of the service's request -> field of the form
_FIELDS = {
    "type": "session_type",
    "argv": "command",
    "workdir": "working_directory",
    "wall_limit": "wall_time",
    "begin_at": "begin_at",
}


def _text(css: str = "input", **attrs: Any) -> forms.TextInput:
    return forms.TextInput(attrs={"class": css, "autocomplete": "off", "spellcheck": "false", **attrs})


def _number(**attrs: Any) -> forms.NumberInput:
    return forms.NumberInput(attrs={"class": "input", **attrs})


def _area(rows: int, placeholder: str = "") -> forms.Textarea:
    attrs = {"class": "textarea", "rows": rows, "spellcheck": "false", "placeholder": placeholder}
    return forms.Textarea(attrs=attrs)


class SubmitForm(forms.Form):
    """Everything that a person may say about a new session. Rules are the service's; here is only the reading."""

    name = forms.CharField(max_length=100, widget=_text())
    session_type = forms.ChoiceField(
        label="Type", choices=_TYPES, widget=forms.Select(attrs={"class": "select"})
    )
    port = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=65_535,
        widget=_number(min=1, max=65_535),
        help_text="For an interactive session: where it listens on its node, told to it as XCE_PORT. If it is stopped"
        " and starts anew, what is in its memory and every connection are lost, and its node may be another.",
    )
    command = forms.CharField(
        required=False,
        max_length=65_536,
        widget=_text(placeholder="python train.py --epochs 3"),
        help_text="Split as a shell would, but no shell runs it.",
    )
    script = forms.CharField(
        required=False,
        max_length=65_536,
        widget=_area(4, "#!/bin/sh"),
        help_text="Run by the program that its first line names after #!, or by /bin/sh.",
    )
    working_directory = forms.CharField(required=False, max_length=1024, widget=_text())
    environment = forms.CharField(
        required=False, widget=_area(3, "NAME=value"), help_text="One NAME=value a line."
    )
    group = forms.ChoiceField(
        widget=forms.Select(attrs={"class": "select"}), error_messages={"invalid_choice": _NOT_OFFERED}
    )
    queue = forms.ChoiceField(
        widget=forms.Select(attrs={"class": "select"}), error_messages={"invalid_choice": _NOT_OFFERED}
    )
    node_count = forms.IntegerField(
        label="Nodes", required=False, initial=1, min_value=1, widget=_number(min=1)
    )
    wall_time = forms.CharField(
        label="Time limit", required=False, widget=_text(placeholder="2h"), help_text="90, 15m, 2h or 1d."
    )
    priority = forms.IntegerField(
        required=False,
        widget=_number(min=0, max=100),
        help_text="Order among everybody's sessions; empty = the queue's default.",
    )
    job_priority = forms.IntegerField(
        label="Own rank",
        required=False,
        initial=10,
        widget=_number(),
        help_text="Rank among your own sessions: a higher one may take the place of a lower one.",
    )
    is_preemptible = forms.BooleanField(
        label="May be preempted",
        required=False,
        initial=True,
        help_text="Higher sessions may stop it. Without this nobody does, where your policy allows it.",
    )
    exit_0_after_warning = forms.ChoiceField(
        label="If it exits with 0 after a warning",
        choices=[("finished", "it is finished"), ("checkpointed", "it saved its state and goes on later")],
        widget=forms.Select(attrs={"class": "select"}),
    )

    def __init__(self, viewer: models.User, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        groups, queues = _choices(viewer)
        self.fields["group"].choices = groups
        self.fields["queue"].choices = queues
        self.kinds = slot_kinds.load()
        for name, kind in self.kinds.items():
            self.fields[f"slot-{name}"] = _slot_field(name, kind)

    @property
    def slot_fields(self) -> list[forms.BoundField]:
        """Return the fields of slots, devices first."""
        return [self[f"slot-{name}"] for name in self.kinds]

    def has_program(self) -> bool:
        """Say whether there is a name, and a command or a script: before that there is nothing to judge."""
        named, command, script = (self.data.get(name, "").strip() for name in ("name", "command", "script"))
        return bool(named and (command or script))

    def clean_environment(self) -> dict[str, str]:
        """Read NAME=value lines."""
        found = {}
        for line in self.cleaned_data["environment"].splitlines():
            name, sign, value = line.partition("=")
            if line.strip() and not sign:
                raise forms.ValidationError(f"{line.strip()!r} is not NAME=value.")
            if sign:
                found[name.strip()] = value
        return found

    def clean_wall_time(self) -> int | None:
        """Read a length of time in seconds."""
        text = self.cleaned_data["wall_time"].strip().lower()
        match = _LENGTH.match(text)
        if text and match is None:
            raise forms.ValidationError("Write for example 90, 15m, 2h or 1d.")
        return int(match[1]) * _SECONDS[match[2]] if match else None

    def to_request(self) -> submission.SubmitRequest:
        """
        Return the service's request of a form that ``is_valid``.

        Raises:
            Refusal: the command line cannot be split.
        """
        values = self.cleaned_data
        return submission.SubmitRequest(
            name=values["name"],
            group=values["group"],
            queue=values["queue"],
            type=values["session_type"],
            argv=submission.split_command(values["command"]),
            script=values["script"].replace("\r\n", "\n"),
            environment=values["environment"],
            workdir=values["working_directory"],
            slots={name: values[f"slot-{name}"] for name in self.kinds if values[f"slot-{name}"]},
            node_count=values["node_count"] or 1,
            priority=values["priority"],
            job_priority=10 if values["job_priority"] is None else values["job_priority"],
            is_preemptible=values["is_preemptible"],
            exit_0_after_warning=values["exit_0_after_warning"],
            wall_limit=values["wall_time"],
            port=values["port"],
        )

    def add_refusal(self, refusal: errors.Refusal) -> None:
        """Show each fault of a refusal at the field where it was made."""
        for name, fault in refusal.fields.items():
            field = self._field_of(name, fault)
            of_kind = (field or "").removeprefix("slot-")
            self.add_error(field, _sentence(fault.removeprefix(f"{of_kind}: ")))
        if not refusal.fields:
            self.add_error(None, str(refusal))

    def _field_of(self, name: str, fault: str) -> str | None:
        if name == "slots":
            kind = fault.partition(":")[0]
            return f"slot-{kind}" if kind in self.kinds else f"slot-{next(iter(self.kinds))}"
        field = _FIELDS.get(name, name)
        return field if field in self.fields else None


def _sentence(text: str) -> str:
    text = text[:1].upper() + text[1:]
    return text if text.endswith(".") else f"{text}."


def _slot_field(name: str, kind: slot_kinds.Kind) -> forms.CharField:
    label = {"cpu": "Cores", "mem": "Memory", "cuda.device": "GPUs"}.get(name, name)
    widget = _text(inputmode="text" if kind.is_bytes else "decimal")
    return forms.CharField(
        label=label,
        required=False,
        max_length=40,
        initial=_FIRST.get(name, ""),
        widget=widget,
        help_text=_HINTS.get(name, ""),
    )


def _choices(viewer: models.User) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Return the groups to which the viewer may submit, and the queues that serve them."""
    roles = permissions.roles_of(viewer)
    ids = [pk for pk, role in roles.items() if role != permissions.Role.VIEWER]
    groups = permissions.visible_groups(viewer)
    if not permissions.is_administrator(viewer):
        groups = groups.filter(pk__in=ids)
    slugs = list(groups.values_list("slug", flat=True))
    queues = models.Queue.objects.filter(groups__slug__in=slugs, state=entities.QueueState.OPEN.value)
    names = sorted(set(queues.values_list("slug", flat=True)))
    return [(slug, slug) for slug in slugs], [(name, name) for name in names]


def tiers(cap: int, default: int) -> list[Mapping[str, object]]:
    """Return three importances as priorities within a cap; equal ones are left out."""
    wanted = {
        "Low": (min(5, cap), "after the others"),
        "Normal": (min(default, cap), "as usual"),
        "High": (cap, "before the others"),
    }
    found: dict[int, Mapping[str, object]] = {}
    for label, (value, text) in wanted.items():
        found.setdefault(value, {"value": value, "label": label, "text": text})
    return list(found.values())
