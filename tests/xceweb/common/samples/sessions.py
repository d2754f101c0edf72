"""The list, the submit form, and a session's page in each of its faces."""

from __future__ import annotations

import datetime
from typing import Any

from django import forms

from tests.xceweb.common.samples import decisions, frame, overview
from xceweb.dashboard.contexts import session_bulk, session_looks


def session_list() -> dict[str, Any]:
    """A page of sessions, some of which may only be seen in summary."""
    words = [
        ("All", "", 232),
        ("Pending", "s-pending", 11),
        ("Running", "s-running", 34),
        ("Suspended", "s-suspended", 2),
    ]
    facets = [
        {"label": label, "icon": icon, "count": count, "url": "#", "is_current": i == 0}
        for i, (label, icon, count) in enumerate(words)
    ]
    return {
        **frame.frame("sessions", ("Sessions", "")),
        "filters": {
            "q": "",
            "state": "",
            "owner": "",
            "group": "a100",
            "queue": "",
            "reason": "",
            "is_filtered": True,
            "fault": "state 'x' is none of pending, running",
        },
        "facets": {"states": facets, "menus": _menus()},
        "facets_url": "/sessions/?part=session_facets",
        "views": {
            "kept": [
                {"name": "waits long", "url": "/sessions/?q=age%3E1h", "remove_url": "#", "is_current": True}
            ],
            "query": "group:a100",
        },
        "back": "group=a100",
        "bulk": [
            {"label": "Hold", "url": "#", "is_dangerous": False},
            {"label": "Cancel", "url": "#", "is_dangerous": True},
        ],
        "files": [{"label": "CSV", "url": "#"}, {"label": "JSON", "url": "#"}],
        "sessions": rows(),
        "pager": {"first": 1, "last": 8, "total": 232, "previous_url": "", "next_url": "?page=2"},
        "clear_url": "/sessions/",
        "look": session_looks.load(session_looks.Look()),
        "topic": "cluster",
        "bell": "cluster",
        "rows_url": "/sessions/?part=session_again",
    }


def _menus() -> list[dict[str, Any]]:
    link = {"count": 1_204, "url": "#", "is_current": False}
    menu = {"clear_url": "#", "value": "", "left_off": 0}
    groups = [{**link, "label": "a100", "is_current": True}, {**link, "label": "l4", "count": 7}]
    owners = [{**link, "label": "Me", "count": 12}, {**link, "label": "alice"}]
    return [
        {**menu, "label": "Group", "word": "group", "value": "a100", "links": groups},
        {**menu, "label": "Owner", "word": "user", "links": owners, "left_off": 38},
        {**menu, "label": "Waits because", "word": "reason", "links": [{**link, "label": "Not enough free"}]},
    ]


def bulk(*, is_asked: bool) -> dict[str, Any]:
    """Several sessions before they are cancelled, or after."""
    refusals = ["", "A session that is terminated cannot be cancelled."]
    return {
        **frame.frame("sessions", ("Sessions", "/sessions/"), ("Cancel", "")),
        "words": session_bulk.WORDS["cancel"],
        "is_asked": is_asked,
        "number": 6,
        "total": 13,
        "left_out": 2,
        "takes_reason": True,
        "rows": [{**row, "refusal": "" if is_asked else refusals[i % 2]} for i, row in enumerate(rows())],
        "action_url": "#",
        "back": "group=a100",
        "back_url": "/sessions/?group=a100",
    }


def every_column() -> dict[str, Any]:
    """All that the table can show, in low rows."""
    look = session_looks.Look(tuple(session_looks.COLUMNS), is_compact=True)
    return {**session_list(), "look": session_looks.load(look)}


def empty_list() -> dict[str, Any]:
    """A filter that nothing matches."""
    return {**session_list(), "sessions": []}


def rows() -> list[dict[str, Any]]:
    """One row for each way in which a session can look."""
    states = ["pending", "scheduled", "running", "preempted", "suspended", "stopping", "terminating"]
    ends = ["success", "failure", "preempted", "cancelled", "timeout", "lost"]
    found = [_row(i, state, "") for i, state in enumerate(states)]
    return found + [_row(7 + i, "terminated", result) for i, result in enumerate(ends)]


def _row(i: int, state: str, result: str) -> dict[str, Any]:
    is_mine = i % 3 != 2
    return {
        "url": "/sessions/x/" if is_mine else "",
        "name": f"sweep-{40 + i}" if is_mine else "",
        "id": f"{frame.ID[:-2]}{i:02d}",
        "owner": "" if not is_mine else "alice",
        "is_mine": is_mine,
        "queue": "batch" if i % 2 else "research",
        "group": "a100",
        "state": state,
        "result": result,
        "verdict": "Needs **4** GPUs on one node, **3** free at most" if state == "pending" else "",
        "priority": 10 * (i % 5),
        "slots": frame.slots(i % 5, 8 * (1 + i % 4), 64),
        "submitted_at": frame.ago(minutes=17 * i + 3),
        "since_s": 41 * (i + 1) ** 2,
        "preempted_count": int(i == 3),
        "job_priority": i if is_mine else None,
        "type": "batch" if is_mine else "",
        "started_at": frame.ago(minutes=12 * i) if i else None,
        "ended_at": frame.ago(minutes=i) if result else None,
        "is_gone": i == 4,
        "claim": {"nodes": ["gpu-01"], "since": frame.ago(minutes=12)} if state == "pending" else None,
        "nodes": [f"gpu-0{1 + i % 4}"] if state in {"running", "suspended", "preempted"} else [],
    }


class SubmitForm(forms.Form):
    """A form with the fields of the page, and nothing behind it."""

    name = forms.CharField(widget=forms.TextInput({"class": "input"}))
    group = forms.ChoiceField(choices=[("a100", "a100")], widget=forms.Select({"class": "select"}))
    queue = forms.ChoiceField(choices=[("batch", "batch")], widget=forms.Select({"class": "select"}))
    command = forms.CharField(
        widget=forms.Textarea({"class": "textarea mono", "rows": 3}), help_text="As in a shell."
    )
    gpus = forms.IntegerField(label="GPUs", widget=forms.TextInput({"class": "input"}))
    cpu = forms.CharField(label="Cores", widget=forms.TextInput({"class": "input"}))
    mem = forms.CharField(label="Memory", widget=forms.TextInput({"class": "input"}), help_text="Such as 4g.")
    wall_time = forms.CharField(required=False, widget=forms.TextInput({"class": "input"}))
    priority = forms.IntegerField(max_value=40, widget=forms.NumberInput({"class": "input"}))
    job_priority = forms.IntegerField(
        label="Rank among your own", widget=forms.NumberInput({"class": "input"})
    )
    is_preemptible = forms.BooleanField(
        label="May be preempted",
        required=False,
        help_text="It keeps its place in the queue and starts again by itself.",
    )

    @property
    def slot_fields(self) -> list[forms.BoundField]:
        """The fields of slots by kind."""
        return [self[name] for name in ("gpus", "cpu", "mem")]


def submit() -> dict[str, Any]:
    """A form with an error, and the answer of a dry run."""
    data = {
        "name": "sweep-52",
        "group": "a100",
        "queue": "batch",
        "command": "python train.py",
        "gpus": "4",
        "cpu": "32",
    }
    form = SubmitForm({**data, "mem": "256g", "priority": "80", "job_priority": "10", "is_preemptible": "on"})
    return {
        **frame.frame("submit", ("Sessions", "/sessions/"), ("Submit", "")),
        "form": form,
        "tiers": [
            {"value": 0, "label": "Low", "text": "waits for others"},
            {"value": 10, "label": "Normal", "text": "as most"},
            {"value": 40, "label": "High", "text": "your cap"},
        ],
        "priority_cap": 40,
        "dry_run": dry_run(),
        "token": "b41f",
    }


def dry_run() -> dict[str, Any]:
    """A session that would wait."""
    return {
        "outcome": "waits",
        "sentence": "It would **wait**: it needs **4 GPUs on one node**, and **3** are free together at "
        "most, on gpu-03.",
        "note": "About 10 min, from what runs now.",
        "at": frame.NOW,
        "round": 18_442,
        "facts": [
            frame.fact("May preempt", "nobody: batch preempts from no queue"),
            frame.fact("May be preempted by", "production"),
        ],
        "suggestions": [{"label": "3 GPUs instead of 4", "fact": "Starts now on gpu-03."}],
        "commands": [
            {
                "id": "as-curl",
                "label": "curl",
                "text": "curl -X POST https://xce.example.org/api/v1/sessions/ -d @session.json",
            }
        ],
    }


def session(**changes: Any) -> dict[str, Any]:
    """The facts of one session."""
    return {
        "id": frame.ID,
        "name": "train-resnet-7",
        "url": f"/sessions/{frame.ID}/",
        "state": "pending",
        "result": "",
        "attempt": 2,
        "owner": "alice",
        "is_mine": True,
        "group": "a100",
        "queue": "batch",
        "priority": 20,
        "priority_cap": 40,
        "job_priority": 10,
        "slots": frame.slots(4, 32, 256),
        "nodes": [],
        "claim": None,
        "node_count": 1,
        "wall_time_s": 14_400,
        "preempted_count": 1,
        "preempted_limit": 2,
        "submitted_at": frame.ago(hours=3),
        "held": False,
        **changes,
    }


def rail() -> list[dict[str, Any]]:
    """A life with one preemption."""
    step = {"at": None, "text": "", "is_current": False}
    return [
        {**step, "icon": "check", "css": "ink-3", "word": "Submitted", "at": frame.ago(hours=3.8)},
        {**step, "icon": "s-running", "css": "i-running", "word": "Ran", "text": "3 h 12 min"},
        {
            **step,
            "icon": "s-preempted",
            "css": "i-preempted",
            "word": "Preempted",
            "at": frame.ago(minutes=30),
        },
        {
            **step,
            "icon": "s-pending",
            "css": "i-pending",
            "word": "Waiting, attempt 2",
            "text": "30 min",
            "is_current": True,
        },
        {**step, "icon": "s-scheduled", "css": "ink-3", "word": "Starts", "text": "about 14:52"},
    ]


def page(tab: str, **context: Any) -> dict[str, Any]:
    """A session's page on one of its tabs."""
    names = {"why": "Why", "timeline": "Time line", "output": "Output", "runs": "Runs", "facts": "Facts"}
    subject = context.pop("session", session())
    return {
        **frame.frame("sessions", ("Sessions", "/sessions/"), (subject["name"], "")),
        "session": subject,
        "tab": tab,
        "tabs": [
            {"label": label, "url": "#", "is_current": key == tab, "count": 2 if key == "runs" else None}
            for key, label in names.items()
        ],
        "rail": rail(),
        "warning": None,
        "actions": actions(),
        "json_url": f"/api/v1/sessions/{frame.ID}/explanation/",
        **context,
    }


def actions() -> list[dict[str, Any]]:
    """What an owner may do."""
    priority = {
        "name": "priority",
        "label": "Priority, up to 40",
        "type": "number",
        "value": 20,
        "min": 0,
        "max": 40,
        "required": True,
    }
    common = {**overview.drain(), "fields": []}
    return [
        {
            **common,
            "key": "priority",
            "label": "Change priority",
            "title": "Change priority",
            "button": "Set priority",
            "fields": [priority],
        },
        {
            **common,
            "key": "cancel",
            "label": "Cancel",
            "title": "Cancel train-resnet-7?",
            "button": "Cancel session",
            "tone": "danger",
        },
    ]


def runs() -> list[dict[str, Any]]:
    """Two attempts."""
    first = {
        "number": 1,
        "state": "terminated",
        "result": "preempted",
        "node": "gpu-04, GPUs 0 to 3",
        "waited_s": 528,
        "ran_s": 11_520,
    }
    second = {
        "number": 2,
        "state": "pending",
        "result": "",
        "node": "",
        "waited_s": 1798,
        "ran_s": 0,
        "exit_code": None,
        "lost": "",
    }
    return [{**first, "exit_code": 143, "lost": "3,268 GPU-s"}, second]


def chart() -> dict[str, Any]:
    """The two attempts over time."""
    return {
        "start": frame.ago(hours=4),
        "end": frame.later(hours=1),
        "now": frame.NOW,
        "label": "Attempt 1 waited 9 min and ran 3 h 12 min; attempt 2 has waited 30 min",
        "attempts": [
            {
                "number": 1,
                "spans": [
                    _span("pending", 3.85, 3.7),
                    _span("running", 3.7, 0.5),
                    {"kind": "preempted", "start": frame.ago(minutes=30), "end": frame.ago(minutes=29)},
                ],
            },
            {"number": 2, "spans": [_span("pending", 0.5, 0), _span("expected", -0.3, -0.8)]},
        ],
    }


def _span(kind: str, start_h: float, end_h: float) -> dict[str, Any]:
    return {"kind": kind, "start": _at(start_h), "end": _at(end_h)}


def _at(hours_ago: float) -> datetime.datetime:
    return frame.ago(hours=hours_ago)


def timeline() -> dict[str, Any]:
    """The time line tab."""
    return page("timeline", steps=decisions.steps(), chart=chart())


def output() -> dict[str, Any]:
    """The output of a running session."""
    text = "\n".join(f"epoch {i:3d}  loss {2.31 / (i + 1):.4f}  checkpoint step-{i}.pt" for i in range(40))
    shown = {
        "state": "live",
        "text": text,
        "note": "Kept on gpu-04 for 14 days.",
        "size_text": "2.4 KiB",
        "is_cut": True,
    }
    shown |= {"earlier_url": "?page=1", "later_url": "", "download_url": "/sessions/x/output.txt"}
    subject = session(state="running", nodes=["gpu-04"])
    return page("output", session=subject, output=shown, refresh_url="/sessions/x/?part=output")


def all_runs() -> dict[str, Any]:
    """The runs tab."""
    return page("runs", attempts=runs())


def facts() -> dict[str, Any]:
    """The facts tab."""
    return page(
        "facts",
        sections=[
            {
                "heading": "What was asked for",
                "facts": [_typed("Command", "python train.py --epochs 90"), frame.fact("Type", "batch")],
            },
            {
                "heading": "What was measured",
                "facts": [frame.fact("CPU time", "11 h 4 min"), frame.fact("Peak memory", "201.4 GiB")],
            },
        ],
        hidden_note="",
    )


def _typed(term: str, text: str) -> dict[str, Any]:
    return {**frame.fact(term, text), "is_code": True}
