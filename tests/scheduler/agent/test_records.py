"""Small files between shepherd and agent."""

import pytest

from scheduler.agent import records


def test_a_record_is_read_as_it_was_written(tmp_path):
    records.write(tmp_path / "job", {"job": [1, 2]})

    assert records.read(tmp_path / "job") == {"job": [1, 2]}
    assert [path.name for path in tmp_path.iterdir()] == ["job"]


@pytest.mark.parametrize("text", [None, "", "{", "[]"])
def test_what_is_no_record_reads_as_empty(tmp_path, text):
    if text is not None:
        (tmp_path / "job").write_text(text)

    assert records.read(tmp_path / "job") == {}


def test_the_clock_only_rises():
    assert records.monotonic_ms() <= records.monotonic_ms()
