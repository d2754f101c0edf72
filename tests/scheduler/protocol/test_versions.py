"""Each version has a strict codec of its own; a report may say less in an older one, a command may not (P18)."""

import json

import pytest

from scheduler.protocol import codec, errors, messages, signing
from tests.scheduler.protocol import builders, first_version, later_version

ABOUT = {"command_id": builders.UUID, "session": builders.UUID, "epoch": 1}


@pytest.fixture(autouse=True)
def later(monkeypatch):
    later_version.speak(monkeypatch)


def a_start(**more):
    return later_version.Start(**ABOUT, attempt=1, argv=("true",), **more)


def code_of(plain, version):
    with pytest.raises(errors.ProtocolError) as caught:
        codec.decode(plain, version=version)
    return caught.value.code


def test_p18_a_later_version_carries_everything():
    for message in (a_start(account="alice"), later_version.Pause(**ABOUT), later_version.Gone(why="left")):
        assert codec.decode(codec.encode(message)) == message


def test_p18_a_command_whose_later_field_is_not_used_reads_as_of_old():
    plain = codec.encode(a_start(), version=messages.FIRST)

    assert "account" not in plain
    first_version.check(plain)
    assert codec.decode(plain) == a_start()


@pytest.mark.parametrize(
    "command",
    [a_start(account="alice"), later_version.Pause(**ABOUT), later_version.Look(**ABOUT, sky="haze")],
    ids=["field", "message", "word"],
)
def test_p18_a_command_is_never_weakened_for_an_older_agent(command):
    plain = codec.encode(command)
    with pytest.raises(errors.ProtocolError) as caught:
        codec.encode(codec.decode(plain), version=messages.FIRST)

    assert caught.value.code == "needs-version"


def test_p18_a_report_says_less_to_an_older_controller():
    report = codec.decode(codec.encode(later_version.Gone(why="left", sky="haze")))
    plain = codec.encode(report, version=messages.FIRST)

    assert "why" not in plain
    assert plain["sky"] == "clear"
    assert codec.decode(plain) == later_version.Gone()


def test_p18_a_report_of_a_later_kind_cannot_be_said_to_an_older_controller():
    with pytest.raises(errors.ProtocolError, match="needs-version"):
        codec.encode(later_version.Paused(), version=messages.FIRST)


@pytest.mark.parametrize(
    ("message", "code"),
    [
        (a_start(account=""), "unknown-field"),
        (later_version.Pause(**ABOUT), "unknown-type"),
        (later_version.Look(**ABOUT, sky="haze"), "invalid-value"),
    ],
    ids=["field", "message", "word"],
)
def test_p18_the_decoder_of_a_version_refuses_what_came_later(message, code):
    assert code_of(codec.encode(message), messages.FIRST) == code


@pytest.mark.parametrize("version", [1, later_version.LATER])
def test_p18_an_envelope_says_in_which_version_it_speaks(version):
    text = signing.seal(a_start(), key=builders.KEY, boot="b", seq=1, version=version)
    envelope = signing.open_envelope(text, keys=builders.KEYS, direction="down")

    assert json.loads(text)["v"] == envelope.version == version
    assert ("account" in json.loads(text)["body"]) is (version == later_version.LATER)


@pytest.mark.parametrize("version", [0, later_version.LATER + 1])
def test_p18_a_version_that_is_not_spoken_is_refused(version):
    with pytest.raises(errors.ProtocolError, match="unknown-version"):
        signing.seal(a_start(), key=builders.KEY, boot="b", seq=1, version=version)


def test_p08_a_signed_message_cannot_be_moved_to_another_version():
    content = json.loads(
        signing.seal(a_start(), key=builders.KEY, boot="b", seq=1, version=later_version.LATER)
    )
    text = signing._canonical(content | {"v": 1})
    with pytest.raises(errors.ProtocolError, match="bad-signature"):
        signing.open_envelope(text, keys=builders.KEYS, direction="down")
