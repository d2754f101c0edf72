"""YAML with lines: the safe subset, and every fault with its place."""

from __future__ import annotations

import decimal

import pytest

from scheduler.scenarios import errors, located


def test_every_key_and_item_knows_its_line():
    found = located.parse("a: 1\nb:\n- x\n- y: 2\n")

    assert found.lines == {"a": 1, "b": 2}
    assert found["b"].lines == [3, 4]
    assert found["b"][1].line == 4


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("7", 7),
        ("-7", -7),
        ("1_000", 1000),
        ("0.5", decimal.Decimal("0.5")),
        ("true", True),
        ("null", None),
        ("on", "on"),
        ("yes", "yes"),
        ("2024-01-01", "2024-01-01"),
        ("0x10", "0x10"),
        (".inf", ".inf"),
        ("'7'", "7"),
    ],
)
def test_a_word_is_what_it_looks_like_and_never_a_float(text, value):
    got = located.parse(f"a: {text}")["a"]

    assert (got, type(got)) == (value, type(value))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [1\nb: 2", "line 2"),
        ("a: 1\nb: 2\na: 3", "line 3: key 'a' is there twice"),
        ("? [a]\n: 1", "line 1: a key must be a word"),
        ("", "it is empty"),
        ("a: !!python/object:os.system {}\nb: *c", "line 2"),
        ("&a [*a]", "nested too deeply"),
        ("[" * 200 + "]" * 200, "nested too deeply"),
        ("[" * 20000, "f.yaml"),
        ("a: 1\n---\na: 2", "line 2: a second document begins; a file has one"),
    ],
)
def test_what_is_no_safe_yaml_is_refused_with_its_line(text, message):
    with pytest.raises(errors.BadScenario, match=message):
        located.parse(text, name="f.yaml")


def test_a_tag_of_another_language_is_text_alone():
    assert located.parse("a: !!python/name:os.system x") == {"a": "x"}


def test_a_file_that_is_not_there_or_no_text_is_named(tmp_path):
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")

    with pytest.raises(errors.BadScenario, match="missing cannot be read: No such file"):
        located.read(tmp_path / "missing")
    with pytest.raises(errors.BadScenario, match="binary cannot be read: it is not UTF-8"):
        located.read(tmp_path / "binary")


def test_a_file_with_a_byte_order_mark_and_json_are_read(tmp_path):
    (tmp_path / "marked.json").write_bytes(b'\xef\xbb\xbf[{"a": 1.5, "b": "x"}]')

    assert located.read(tmp_path / "marked.json") == [{"a": decimal.Decimal("1.5"), "b": "x"}]


@pytest.mark.parametrize("text", ["9" * 5000, "1." + "3" * 60])
def test_a_number_that_nobody_writes_is_text(text):
    assert located.parse(f"a: {text}")["a"] == text


def test_aliases_that_grow_a_small_file_into_a_large_one_are_refused():
    lines = ["a0: &a0 x", *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12))]

    with pytest.raises(errors.BadScenario, match=r"line \d+: more than 1,000,000 values"):
        located.parse("\n".join(lines), name="f")
