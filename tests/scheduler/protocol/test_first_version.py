"""What the first version said is understood for ever, and is still said where it is spoken (P18)."""

import dataclasses
import json

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from scheduler.agent import journal, memory
from scheduler.protocol import codec, errors, messages, signing
from tests.scheduler.protocol import builders, first_version

KEYS = {first_version.KEY_ID: signing.NodeKey(first_version.KEY_ID, "n1", first_version.SECRET)}
FIRST = [cls for cls in builders.ALL if cls.SINCE == messages.FIRST]
quick = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def opened(text):
    return signing.open_envelope(text, keys=KEYS, direction=json.loads(text)["dir"])


def test_p18_every_message_of_the_first_version_is_kept():
    kept = {json.loads(text)["body"]["type"] for text in first_version.ENVELOPES}

    assert kept == first_version.SHAPES.keys() == {cls.TYPE for cls in FIRST}


@pytest.mark.parametrize("text", first_version.ENVELOPES, ids=lambda text: json.loads(text)["body"]["type"])
def test_p18_what_the_first_version_said_is_understood_and_said_again_to_the_letter(text):
    envelope = opened(text)
    again = signing.seal(
        envelope.body, key=KEYS["k1"], boot=envelope.boot, seq=envelope.seq, version=messages.FIRST
    )

    assert again == text
    assert first_version.read(text) == json.loads(text)["body"]


@pytest.mark.parametrize("kind", first_version.SHAPES)
def test_p18_what_the_first_version_might_leave_out_may_be_left_out_for_ever(kind):
    for body in first_version.bodies(kind):
        needed = {"type", *first_version.SHAPES[kind]["needed"], *_one_of(body)}
        sparse = {name: value for name, value in body.items() if name in needed}

        codec.decode(sparse, version=messages.FIRST)
        codec.decode(sparse)


def _one_of(body):
    return [name for name in ("argv", "script") if body.get(name)]


@pytest.mark.parametrize("cls", FIRST, ids=lambda cls: cls.TYPE)
@quick
@given(data=st.data())
def test_p18_whatever_is_said_in_the_first_version_its_strict_reader_accepts(cls, data):
    text = _said_in_first(_without_what_came_later(data.draw(builders.any_message(cls))))
    assume(text is not None)

    first_version.read(text)


def _without_what_came_later(message):
    """A command that uses a later field is not said in the first version at all."""
    _, newer = codec._split(type(message), messages.FIRST)
    return dataclasses.replace(message, **{field.name: field.default for field in newer})


def _said_in_first(message):
    try:
        return signing.seal(message, key=KEYS["k1"], boot="b", seq=1, version=messages.FIRST)
    except errors.ProtocolError as error:
        if error.code != "needs-version":
            raise
        return None


@pytest.mark.parametrize(
    "change", [{"more": 1}, {"epoch": "3"}, {"epoch": 2**31}, {"session": "x"}, {"cause": "whim"}]
)
def test_the_frozen_reader_is_as_strict_as_the_first_version_was(change):
    body = first_version.bodies("kill")[0] | change
    with pytest.raises(AssertionError):
        first_version.check(body)
    with pytest.raises(errors.ProtocolError):
        codec.decode(body, version=messages.FIRST)


@pytest.mark.parametrize("name", ["journal.jsonl", "journal_compacted.jsonl"])
def test_p18_the_journal_of_a_first_agent_is_read_by_its_successor(name, tmp_path):
    path = tmp_path / "journal"
    path.write_bytes((first_version.DATA / name).read_bytes())
    store = memory.Memory(journal.Journal(path), boot="b")
    store.load()
    store.close()
    book = store.book

    assert sorted(run.state for run in book.runs.values()) == ["ended", "ended", "running", "suspended"]
    assert {run.epoch for run in book.runs.values()} == {1, 2}
    assert [run.ended.exit_code for run in book.runs.values() if run.ended] == [3, None]
    assert len(book.answers) == 11
    assert len(book.outbox) == 10
    assert len(book.withdrawn) == len(book.cancelled) == 1


def test_the_greetings_are_the_same_in_every_version():
    """A controller of any version must understand who an agent is, before it knows what it speaks."""
    for cls in (messages.Hello, messages.Heartbeat, messages.HeldSession):
        assert {f.name for f in dataclasses.fields(cls)} == set(_fields_of(cls))


def _fields_of(cls):
    if cls is messages.HeldSession:
        return first_version.SHAPES["hello"]["object"]["sessions"]["list"]["object"]
    return first_version.SHAPES[cls.TYPE]["object"]
