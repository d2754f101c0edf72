"""Values of a request: what cannot be stored or started is refused with what would be right."""

from __future__ import annotations

import pytest

from scheduler.services import faults, request_values
from scheduler.services.session_requests import SubmitRequest

BAD = [
    ("workdir", {"workdir": "/a\x00b"}, "no NUL"),
    ("workdir", {"workdir": "/" * 1025}, "at most 1024"),
    ("command", {"argv": ["x" * 4097]}, "at most 4096"),
    ("command", {"argv": ["a\x00"]}, "no NUL"),
    ("command", {"argv": [], "script": "#" * 65_537}, "64 KiB"),
    ("environment", {"environment": {"1A": "x"}}, "'1A' is not a variable's name"),
    ("environment", {"environment": {"A=B": "x"}}, "not a variable's name"),
    ("environment", {"environment": {"A": "\x00"}}, "NUL"),
    ("required_labels", {"required_labels": {"zone": []}}, "at least one accepted value"),
    ("required_labels", {"required_labels": {"zone": ["\x00"]}}, "no NUL"),
    ("name", {"name": "a\nb"}, "printable"),
    ("type", {"type": "daemon"}, "must be one of batch"),
    ("exit_0_after_warning", {"exit_0_after_warning": "perhaps"}, "must be one of finished"),
    ("node_count", {"node_count": 0}, "from 1"),
    ("node_count", {"node_count": True}, "whole number"),
    ("warning_signal", {"warning_signal": 19}, "cannot be a warning"),
    ("grace_period", {"grace_period": -1}, "from 0"),
]


@pytest.mark.parametrize(("field", "wanted", "text"), BAD, ids=[f"{f}-{i}" for i, (f, *_) in enumerate(BAD)])
def test_a_bad_value_is_refused_at_its_field(db, field, wanted, text):
    found = faults.Faults()
    values = {"name": "s", "group": "g", "queue": "q", "argv": ["true"], "slots": {"cpu": "1"}}

    request_values.columns(SubmitRequest(**(values | wanted)), found)

    assert text in found[field]


def test_a_good_request_has_no_faults(db):
    found = faults.Faults()
    request = SubmitRequest(
        name="train",
        group="g",
        queue="q",
        argv=["/bin/train", "--fast"],
        environment={"A_1": "x"},
        slots={"cpu": "0.5", "mem": "4g"},
        required_labels={"zone": ["b", "a"]},
    )

    columns = request_values.columns(request, found)

    assert not found
    assert columns["slots"] == {"cpu": 500, "mem": 4 << 30}
    assert columns["required_labels"] == {"zone": ["a", "b"]}


@pytest.mark.parametrize(("type_", "expected"), [("batch", True), ("interactive", False)])
def test_only_batch_may_start_anew_by_default(db, type_, expected):
    request = SubmitRequest(name="s", group="g", queue="q", type=type_, argv=["true"], slots={"cpu": "1"})

    assert request_values.columns(request, faults.Faults())["restartable"] is expected
