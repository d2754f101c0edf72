"""Trace files as a whole: formats, order, last part, malformed lines."""

import pathlib

import pytest

from scheduler.traces import openb, reading

DATA = pathlib.Path(__file__).parents[2] / "data" / "traces"
PODS = DATA / "pods.csv"


def read(path, *, last=None, skip_bad=False):
    return reading.read(path, last=last, skip_bad=skip_bad)


def with_line(tmp_path, source, *, at, text):
    """Return a copy of a file in which one line, counted from 1, is another."""
    lines = source.read_text().splitlines()
    lines[at - 1] = text
    path = tmp_path / source.name
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_pod_file_is_known_by_its_header():
    trace = read(PODS)

    assert len(trace.entries) == 36
    assert trace.skipped == 0
    assert trace.entries[0].submit_ms == 0


def test_an_swf_file_is_read_past_its_comments():
    trace = read(DATA / "small.swf")

    assert len(trace.entries) == 24
    assert trace.entries[0].name == "swf-1"


def test_the_last_entries_are_the_latest_arrivals_and_begin_at_zero():
    whole, part = read(PODS), read(PODS, last=10)

    assert [e.name for e in whole.entries[-10:]] == [e.name for e in part.entries]
    assert part.entries[0].submit_ms == 0
    shift = whole.entries[-10].submit_ms
    assert whole.entries[-1].submit_ms - shift == part.entries[-1].submit_ms


def test_entries_come_in_order_of_arrival_whatever_the_file_says(tmp_path):
    lines = PODS.read_text().splitlines()
    path = tmp_path / "pods.csv"
    path.write_text("\n".join([lines[0], *reversed(lines[1:])]))
    moments = [entry.submit_ms for entry in read(path).entries]

    assert moments == sorted(moments)


def test_a_malformed_line_is_named_with_file_line_and_reason(tmp_path):
    path = with_line(tmp_path, PODS, at=7, text="pod-x,many,1,0,0,,LS,Running,5,9,5")

    with pytest.raises(reading.BadTrace, match=rf"{path.name}:7: cpu_milli is 'many', not a whole number"):
        read(path)


def test_skip_bad_passes_over_malformed_lines_and_counts_them(tmp_path):
    trace = read(with_line(tmp_path, PODS, at=7, text="half a line"), skip_bad=True)

    assert len(trace.entries) == 35
    assert trace.skipped == 1


def test_an_open_quotation_mark_is_named_by_its_own_line_and_loses_no_other(tmp_path):
    path = with_line(tmp_path, PODS, at=4, text='"pod-x,1,1,0,0,,LS,Running,5,9,5')

    with pytest.raises(reading.BadTrace, match=rf"^[^\n]*{path.name}:4: [^\n]*\Z"):
        read(path)
    assert len(read(path, skip_bad=True).entries) == 35


def test_many_malformed_lines_are_named_in_part_and_counted_in_whole(tmp_path):
    path = tmp_path / "bad.swf"
    path.write_text("1 2 3\n" * 8)

    with pytest.raises(reading.BadTrace, match="and 3 more malformed lines"):
        read(path)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("none.swf", None, "No such file"),
        ("empty.swf", b"", "no session in it"),
        ("only.csv", ",".join(openb.HEADER).encode(), "no session in it"),
        ("other.csv", b"a,b,c\n1,2,3\n", "the header is not"),
        ("binary.swf", b"\xff\xfe\x00", "is not UTF-8"),
    ],
)
def test_a_file_that_is_no_trace_is_refused_in_words(tmp_path, name, content, message):
    if content is not None:
        (tmp_path / name).write_bytes(content)

    with pytest.raises(reading.BadTrace, match=message):
        read(tmp_path / name)
