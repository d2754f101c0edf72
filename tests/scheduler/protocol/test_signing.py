"""Envelopes: what is opened is what was sealed, and nothing else is opened."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scheduler.protocol import errors, messages, signing
from tests.scheduler.protocol import builders

OTHER = signing.NodeKey("k2", "n2", b"o" * 32)
HEARTBEAT = messages.Heartbeat(at_mono_ms=7)

#: These run beside others on a busy machine; no time limit may decide them.
quick = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def sealed(body=HEARTBEAT, *, key=builders.KEY, boot="b-1", seq=5):
    return signing.seal(body, key=key, boot=boot, seq=seq)


def opened(text, *, keys=builders.KEYS, direction="up"):
    return signing.open_envelope(text, keys=keys, direction=direction)


def code_of(text, **more):
    with pytest.raises(errors.ProtocolError) as caught:
        opened(text, **more)
    return caught.value.code


def respelled(text, **changes):
    """Change the envelope and spell it canonically again, without signing it."""
    content = json.loads(text) | changes
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


@pytest.mark.parametrize("cls", builders.ALL, ids=lambda cls: cls.TYPE)
@quick
@given(data=st.data())
def test_what_is_sealed_is_opened_with_its_node_boot_and_sequence(cls, data):
    body = data.draw(builders.any_message(cls))
    direction = "up" if isinstance(body, messages.Report) else "down"
    seq = data.draw(st.integers(0, 2**63 - 1))
    text = signing.seal(body, key=builders.KEY, boot="b-1", seq=seq, version=messages.VERSION)

    assert opened(text, direction=direction) == signing.Envelope(
        "k1", "n1", "b-1", seq, body, messages.VERSION
    )


def test_the_signature_covers_exactly_the_canonical_bytes_of_all_but_itself():
    text = sealed()
    content = json.loads(text)
    del content["sig"]

    assert list(json.loads(text)) == sorted(json.loads(text))
    assert respelled(json.dumps(content), sig=json.loads(text)["sig"]) == text


@pytest.mark.parametrize(
    ("change", "code"),
    [
        pytest.param({"seq": 6}, "bad-signature", id="another sequence"),
        pytest.param({"boot": "b-2"}, "bad-signature", id="another boot"),
        pytest.param({"dir": "down"}, "bad-signature", id="turned round"),
        pytest.param({"key": "k2"}, "bad-signature", id="another node's key id"),
        pytest.param({"key": "k9"}, "unknown-key", id="unknown key id"),
        pytest.param({"sig": "0" * 64}, "bad-signature", id="made-up signature"),
        pytest.param({"sig": ""}, "bad-signature", id="empty signature"),
        pytest.param({"sig": "ü" * 64}, "bad-signature", id="signature of other letters"),
        pytest.param({"sig": None}, "malformed", id="no signature"),
        pytest.param({"v": messages.VERSION + 1}, "unknown-version", id="another version"),
        pytest.param({"v": True}, "malformed", id="version is a truth"),
        pytest.param({"seq": -1}, "out-of-range", id="negative sequence"),
        pytest.param({"seq": 2**63}, "out-of-range", id="huge sequence"),
        pytest.param({"boot": ""}, "invalid-value", id="empty boot"),
        pytest.param({"boot": "a b"}, "invalid-value", id="boot of another form"),
        pytest.param({"extra": 1}, "malformed", id="extra field"),
        pytest.param({"body": []}, "malformed", id="body is no object"),
        pytest.param({"body": {"type": "heartbeat"}}, "bad-signature", id="another body"),
    ],
)
def test_P08_a_changed_envelope_is_refused(change, code):
    keys = {"k1": builders.KEY, "k2": OTHER}

    assert code_of(respelled(sealed(), **change), keys=keys) == code


@pytest.mark.parametrize("name", ["v", "key", "dir", "boot", "seq", "body", "sig"])
def test_an_envelope_without_one_of_its_fields_is_refused(name):
    content = json.loads(sealed())
    del content[name]

    assert code_of(respelled(json.dumps(content))) == "malformed"


@pytest.mark.parametrize(
    ("damage", "code"),
    [
        pytest.param(lambda t: t.replace(",", ", "), "not-canonical", id="spaces"),
        pytest.param(lambda t: json.dumps(dict(reversed(json.loads(t).items())), separators=(",", ":")),
                     "not-canonical", id="reordered"),
        pytest.param(lambda t: t.replace('"up"', '"\\u0075p"'), "not-canonical", id="escaped"),
        pytest.param(lambda t: t + " ", "not-canonical", id="blank at the end"),
        pytest.param(lambda t: t.replace('"v":1', '"v":1,"v":1'), "duplicate-key", id="doubled key"),
        pytest.param(lambda t: t.replace('"seq":5', '"seq":5.0'), "malformed", id="float"),
        pytest.param(lambda t: t.replace('"seq":5', '"seq":NaN'), "malformed", id="not a number"),
        pytest.param(lambda t: t.replace('"seq":5', '"seq":' + "9" * 5000), "malformed", id="endless number"),
        pytest.param(lambda t: "[" * 100_000, "malformed", id="endless nesting"),
        pytest.param(lambda t: t[:-1], "malformed", id="cut"),
        pytest.param(lambda t: "", "malformed", id="empty"),
        pytest.param(lambda t: '"up"', "not-canonical", id="no object"),
        pytest.param(lambda t: "x" * (signing.SIZE_LIMIT + 1), "too-large", id="too large"),
        pytest.param(lambda t: "ü" * (signing.SIZE_LIMIT // 2 + 1), "too-large", id="too large in bytes"),
    ],
)  # fmt: skip
def test_P08_a_text_in_another_spelling_is_refused(damage, code):
    assert code_of(damage(sealed())) == code


@pytest.mark.parametrize("name", ["key", "dir", "boot", "sig", "body"])
def test_P08_half_a_character_is_refused_wherever_it_stands(name):
    content = json.loads(sealed())
    content[name] = {"type": "\ud800"} if name == "body" else content[name][:-1] + "\ud800"

    assert code_of(signing._canonical(content)) == "malformed"


def test_bytes_are_no_envelope():
    assert code_of(sealed().encode()) == "malformed"


def test_P08_a_command_cannot_be_reflected_as_a_report():
    assert code_of(sealed(builders.a_start()), direction="up") == "wrong-direction"
    assert code_of(sealed(), direction="down") == "wrong-direction"


@pytest.mark.parametrize(("body", "direction"), [(HEARTBEAT, "down"), (builders.a_start(), "up")])
def test_a_message_that_is_signed_for_the_wrong_way_is_refused(body, direction):
    content = json.loads(sealed(body)) | {"dir": direction}
    del content["sig"]
    content["sig"] = signing._signature(content, builders.KEY)

    assert code_of(signing._canonical(content), direction=direction) == "wrong-direction"


def test_P08_a_report_sealed_with_another_nodes_key_names_that_node():
    keys = {"k1": builders.KEY, "k2": OTHER}

    assert opened(sealed(key=OTHER), keys=keys).node == "n2"


def test_two_keys_of_a_node_are_accepted_during_a_rotation_and_a_revoked_one_is_not():
    new = signing.NodeKey("k1-new", "n1", b"n" * 32)
    text = sealed(key=new)

    assert opened(text, keys=builders.KEYS | {"k1-new": new}).node == "n1"
    assert code_of(text) == "unknown-key"


def test_an_envelope_that_would_be_too_large_cannot_be_sealed():
    argument = "x" * 131_072
    with pytest.raises(errors.ProtocolError, match="too-large"):
        sealed(builders.a_start(argv=(argument, argument)))


def test_the_secret_is_not_shown():
    assert "secret" not in repr(builders.KEY)


@quick
@given(position=st.integers(0), letter=st.characters())
def test_P08_no_letter_of_an_envelope_can_be_changed(position, letter):
    text = sealed()
    at = position % len(text)
    changed = text[:at] + letter + text[at + 1 :]
    if changed != text:
        assert code_of(changed)
