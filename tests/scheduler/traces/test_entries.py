"""Numbers in traces, exact."""

import pytest

from scheduler.traces import entries


@pytest.mark.parametrize(
    ("text", "expected"),
    [("0", 0), ("12902960", 12_902_960_000), ("1.5", 1500), ("2.0009", 2000), ("3.04", 3040)],
)
def test_moments_are_read_exactly(text, expected):
    assert expected == entries.moment_ms(text, column="t")


@pytest.mark.parametrize("text", ["", "1e9", "nan", "1 2", "9" * 13, "0x1"])
def test_what_is_no_moment_is_refused(text):
    with pytest.raises(entries.BadValue, match="t is"):
        entries.moment_ms(text, column="t")


@pytest.mark.parametrize("text", ["", "1.5", "ten", "9" * 16, "1_000"])
def test_what_is_no_whole_number_is_refused(text):
    with pytest.raises(entries.BadValue, match="n is"):
        entries.whole(text, column="n", least=0)


def test_moments_end_before_clocks_do():
    assert entries.moment_ms("4000000000", column="t") == 4_000_000_000_000

    with pytest.raises(entries.BadValue, match="t comes to 4000000001, above 4000000000"):
        entries.moment_ms("4000000001", column="t")
