"""Lines carry the ids of what they are about, as text and as JSON."""

from __future__ import annotations

import json
import logging
import logging.config

import pytest

from scheduler import logs


def line(formatter: logging.Formatter, message: str = "it %s", **more: object) -> str:
    """Return what a formatter makes of one record."""
    record = logging.LogRecord("xce.test", logging.INFO, __file__, 1, message, ("works",), None)
    record.__dict__.update(more)
    return formatter.format(record)


@pytest.mark.parametrize("formatter", [logs.LineFormatter(), logs.JsonFormatter()])
def test_a_line_carries_the_ids_of_its_block_and_its_own(formatter):
    with logs.bound(request_id="r-1"), logs.bound(round="7/3"):
        inside = line(formatter, **logs.about(session="s-1"))
    outside = line(formatter)

    assert [name in inside for name in ("r-1", "7/3", "s-1")] == [True, True, True]
    assert [name in outside for name in ("request_id", "round", "session")] == [False, False, False]


def test_json_lines_are_objects_with_the_trace_of_a_failure():
    try:
        raise ValueError("why")
    except ValueError as error:
        found = json.loads(line(logs.JsonFormatter(), exc_info=(type(error), error, error.__traceback__)))

    assert (found["level"], found["logger"], found["message"]) == ("info", "xce.test", "it works")
    assert found["time"].endswith("+00:00")
    assert "ValueError: why" in found["trace"]


@pytest.mark.parametrize("formatter", [logs.LineFormatter(), logs.JsonFormatter()])
def test_nobody_forges_a_second_line(formatter):
    found = line(formatter, "it %s\n2026 ERROR forged\r", **logs.about(session="x\ny"))

    assert "\n" not in found
    assert "\r" not in found


def test_a_process_writes_to_one_place_in_one_form(capsys):
    root = logging.getLogger()
    before = root.handlers[:], root.level
    try:
        logging.config.dictConfig(logs.config(is_json=True, levels={"noisy.one": "WARNING"}))
        logging.getLogger("noisy.one").info("too much")
        logging.getLogger("quiet.one").info("told")
    finally:
        root.handlers[:], _ = before
        root.setLevel(before[1])

    assert [json.loads(text)["message"] for text in capsys.readouterr().err.splitlines()] == ["told"]
