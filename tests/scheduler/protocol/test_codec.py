"""Messages to JSON and back; everything else is refused with a stable code."""

import dataclasses
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scheduler.protocol import codec, errors, messages
from tests.scheduler.protocol import builders

#: These run beside others on a busy machine; no time limit may decide them.
quick = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def code_of(plain):
    with pytest.raises(errors.ProtocolError) as caught:
        codec.decode(plain)
    return caught.value.code


def a_start(**changes):
    return codec.encode(builders.a_start()) | changes


@pytest.mark.parametrize("cls", builders.ALL, ids=lambda cls: cls.TYPE)
@quick
@given(data=st.data())
def test_every_message_comes_back_equal_through_json(cls, data):
    message = data.draw(builders.any_message(cls))
    plain = json.loads(json.dumps(codec.encode(message)))

    assert codec.decode(plain) == message
    assert type(codec.decode(plain)) is cls


def test_every_message_has_a_name_of_its_own():
    names = [cls.TYPE for cls in builders.ALL]

    assert "" not in names
    assert len(set(names)) == len(names)


def test_a_field_with_a_default_may_be_left_out():
    plain = a_start()
    for name in ("script", "env", "workdir", "slots", "grace_ms"):
        del plain[name]

    assert codec.decode(plain) == builders.a_start()


def test_words_are_accepted_for_enumerations_and_come_back_as_such():
    stop = messages.StopCommand(
        command_id=builders.UUID, session=builders.UUID, epoch=1, action="suspend", mode="suspend"
    )
    decoded = codec.decode(codec.encode(stop))

    assert decoded == stop
    assert decoded.hook == 65


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        pytest.param({"type": "nothing"}, "unknown-type", id="unknown type"),
        pytest.param({"type": 5}, "unknown-type", id="type is no word"),
        pytest.param({"more": 1}, "unknown-field", id="unknown field"),
        pytest.param({"attempt": "1"}, "wrong-type", id="text for a number"),
        pytest.param({"attempt": True}, "wrong-type", id="truth for a number"),
        pytest.param({"attempt": 1.0}, "wrong-type", id="float"),
        pytest.param({"attempt": None}, "wrong-type", id="nothing for a number"),
        pytest.param({"wall_limit_s": "9"}, "wrong-type", id="text for an optional number"),
        pytest.param({"exit0_checkpointed": 1}, "wrong-type", id="number for a truth"),
        pytest.param({"argv": "true"}, "wrong-type", id="text for a list"),
        pytest.param({"argv": [1]}, "wrong-type", id="number in a list of texts"),
        pytest.param({"env": []}, "wrong-type", id="list for a map"),
        pytest.param({"env": {"A": 1}}, "wrong-type", id="number in a map of texts"),
        pytest.param({"attempt": 0}, "out-of-range", id="below the range"),
        pytest.param({"epoch": 2**31}, "out-of-range", id="above the range"),
        pytest.param({"output_limit_bytes": 2**63}, "out-of-range", id="no 63-bit number"),
        pytest.param({"warn_signal": 65}, "out-of-range", id="no signal"),
        pytest.param({"argv": ["x"] * 5000}, "out-of-range", id="too many members"),
        pytest.param({"workdir": "x" * 5000}, "out-of-range", id="too long"),
        pytest.param({"session": "1"}, "invalid-value", id="no uuid"),
        pytest.param({"session": builders.UUID.upper()}, "invalid-value", id="uuid spelled otherwise"),
        pytest.param({"argv": ["a\0b"]}, "invalid-value", id="NUL in an argument"),
        pytest.param({"env": {"A=B": "1"}}, "invalid-value", id="equals sign in a name"),
        pytest.param({"workdir": "\ud800"}, "invalid-value", id="half a character"),
        pytest.param({"argv": []}, "invalid-value", id="neither program nor script"),
        pytest.param({"script": "echo"}, "invalid-value", id="program and script"),
    ],
)
def test_a_start_that_is_not_as_declared_is_refused(changes, code):
    assert code_of(a_start(**changes)) == code


@pytest.mark.parametrize("name", ["command_id", "session", "epoch", "attempt"])
def test_a_missing_field_is_named(name):
    plain = a_start()
    del plain[name]
    with pytest.raises(errors.ProtocolError, match=name) as caught:
        codec.decode(plain)

    assert caught.value.code == "missing-field"


@pytest.mark.parametrize("plain", [None, [], "start", 1])
def test_what_is_no_object_is_refused(plain):
    assert code_of(plain) == "malformed"


def test_an_unknown_word_of_an_enumeration_is_refused():
    plain = codec.encode(
        messages.KillCommand(command_id=builders.UUID, session=builders.UUID, epoch=1, cause="cancelled")
    )

    assert code_of(plain | {"cause": "whim"}) == "invalid-value"
    assert code_of(plain | {"cause": ["cancelled"]}) == "invalid-value"


def test_pairs_have_exactly_two_members():
    plain = codec.encode(messages.AckCommand(reports=(("b", 1),)))

    assert code_of(plain | {"reports": [["b", 1, 2]]}) == "wrong-type"
    assert code_of(plain | {"reports": [["b"]]}) == "wrong-type"


def test_facts_of_a_host_are_texts_or_numbers():
    hello = messages.Hello(
        agent_version="1", protocol=1, boot="b", pid=1, host_facts={"name": "x", "cpus": 2}
    )
    plain = codec.encode(hello)

    assert codec.decode(plain) == hello
    assert code_of(plain | {"host_facts": {"a": None}}) == "wrong-type"


def test_a_member_of_a_list_of_objects_is_checked_too():
    held = messages.HeldSession(session=builders.UUID, epoch=1, state="running")
    plain = codec.encode(messages.Heartbeat(sessions=(held,)))
    plain["sessions"][0]["more"] = 1

    assert code_of(plain) == "unknown-field"
    assert code_of(plain | {"sessions": ["x"]}) == "wrong-type"


def test_encoding_refuses_what_decoding_would():
    with pytest.raises(errors.ProtocolError, match="out-of-range"):
        codec.encode(dataclasses.replace(builders.a_start(), epoch=-1))


@quick
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=8,
    )
)
def test_any_json_value_is_a_message_or_a_protocol_error(value):
    with pytest.raises(errors.ProtocolError):
        codec.decode(value)


@pytest.mark.parametrize("cls", builders.ALL, ids=lambda cls: cls.TYPE)
@quick
@given(data=st.data())
def test_a_message_with_one_damaged_field_never_raises_anything_else(cls, data):
    plain = codec.encode(data.draw(builders.any_message(cls)))
    name = data.draw(st.sampled_from(sorted(plain)))
    plain[name] = data.draw(st.none() | st.integers() | st.text() | st.just([]) | st.just({}) | st.just([{}]))
    try:
        decoded = codec.decode(plain)
    except errors.ProtocolError:
        return

    assert codec.decode(codec.encode(decoded)) == decoded
