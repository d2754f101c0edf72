"""What foreign code answers is read strictly."""

from __future__ import annotations

import json

import pytest

from scheduler.core.preemption import policy
from scheduler.plugins import wire


def test_a_question_says_the_whole_problem(problem):
    assert wire.problem(json.loads(wire.question(3, problem))) == problem


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (b'{"number":3,"answer":null}', None),
        (b'{"number":3,"answer":[7,[2,1]]}', policy.Answer(7, (2, 1))),
        (b'{"number":3,"answer":[7,[]]}', policy.Answer(7, ())),
    ],
)
def test_an_answer_is_a_node_and_sessions_in_order(text, answer):
    assert wire.answer(text, number=3) == answer


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"hello",
        b"\xff\xfe",
        b"[" * 100_000,
        b"[3]",
        b"{}",
        b'{"number":2,"answer":null}',
        b'{"number":true,"answer":null}',
        b'{"number":3}',
        b'{"number":3,"fault":"none such"}',
        b'{"number":3,"answer":7}',
        b'{"number":3,"answer":"ab"}',
        b'{"number":3,"answer":[7]}',
        b'{"number":3,"answer":[7,[1],[2]]}',
        b'{"number":3,"answer":[7,1]}',
        b'{"number":3,"answer":[true,[1]]}',
        b'{"number":3,"answer":["7",[1]]}',
        b'{"number":3,"answer":[7,[true]]}',
        b'{"number":3,"answer":[7,["1"]]}',
        b'{"number":3,"answer":[7,[NaN]]}',
        b'{"number":3,"answer":[7,[1.0]]}',
        b'{"number":3,"answer":[7,[null]]}',
        b'{"number":3,"answer":[7,[' + b"9" * 5000 + b"]]}",
        b'{"number":3,"answer":null}\n{"number":4,"answer":null}',
    ],
)
def test_anything_else_is_refused(text):
    with pytest.raises(policy.PolicyFailed, match="no answer of the form"):
        wire.answer(text, number=3)


def test_p11_an_error_is_told_by_the_name_of_its_class_alone():
    said = {
        "ValueError": "failed: ValueError",
        "no name\n<b>": "failed: an exception",
        "X" * 65: "failed: an exception",
        7: "failed: an exception",
    }
    for error, text in said.items():
        with pytest.raises(policy.PolicyFailed) as caught:
            wire.answer(wire.line({"number": 3, "error": error}), number=3)
        assert str(caught.value) == text
