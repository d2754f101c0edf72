"""Pages and tails of output files."""

import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scheduler.agent import launch, output


@pytest.fixture
def path(tmp_path):
    return tmp_path / "output"


def pages(path, limit):
    text, offset, count = "", 0, 0
    while True:
        page = output.read_page(path, offset=offset, limit=limit)
        assert page.next_offset > offset or page.is_last
        text, offset, count = text + page.data, page.next_offset, count + 1
        if page.is_last:
            return text, count


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(), limit=st.integers(4, 50))
def test_pages_put_together_are_the_output(path, text, limit):
    path.write_text(text, newline="")

    assert pages(path, limit)[0] == text


def test_bytes_that_are_no_text_are_replaced_and_never_stop_the_reader(path):
    path.write_bytes(b"a\xff\xc3b\xf0\x9f")

    assert pages(path, 2)[0].replace("�", "") == "ab"
    assert pages(path, 1)[1] == 6


def test_a_missing_output_is_empty(path):
    page = output.read_page(path, offset=0, limit=10)

    assert (page.data, page.size, page.is_last) == ("", 0, True)
    assert output.size(path) == 0


def test_a_page_beyond_the_end_is_the_end(path):
    path.write_text("abc")
    page = output.read_page(path, offset=10, limit=10)

    assert (page.data, page.next_offset, page.is_last) == ("", 3, True)


def test_a_hole_is_told_and_skipped(path):
    block = 4096
    path.write_bytes(b"h" * block * 2 + b"m" * block * 4 + b"t" * block * 2)
    with path.open("r+b") as file:
        if not launch.punch_hole(file.fileno(), block * 2, block * 4):
            pytest.skip("this file system cannot punch holes")
    text, _ = pages(path, 3000)

    assert text == "h" * block * 2 + f"\n[{block * 4} bytes left out: output limit]\n" + "t" * block * 2


def test_a_tail_begins_at_a_line(path):
    lines = [f"line {n}" for n in range(5000)]
    path.write_text("\n".join(lines) + "\n")
    tail = output.read_tail(path)

    assert len(tail.data) <= output.TAIL_BYTES
    assert tail.data.splitlines() == lines[-len(tail.data.splitlines()) :]
    assert tail.size == os.path.getsize(path)


def test_a_tail_of_one_endless_line_is_its_end(path):
    path.write_text("x" * 20_000)

    assert output.read_tail(path).data == "x" * output.TAIL_BYTES


def test_a_short_output_is_its_own_tail(path):
    path.write_text("a\nb\n")

    assert output.read_tail(path).data == "a\nb\n"
