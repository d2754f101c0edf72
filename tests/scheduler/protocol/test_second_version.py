"""What the second version added is understood for ever, and said to the letter (P18)."""

import json
import pathlib

import pytest

from scheduler.protocol import codec, errors, messages, signing
from tests.scheduler.protocol import first_version

DATA = pathlib.Path(__file__).resolve().parents[2] / "data" / "protocol" / "second"
ENVELOPES = (DATA / "messages.jsonl").read_text().splitlines()
KEY = signing.NodeKey(first_version.KEY_ID, "n1", first_version.SECRET)


@pytest.mark.parametrize("text", ENVELOPES, ids=lambda text: json.loads(text)["body"]["type"])
def test_p18_what_the_second_version_said_is_understood_and_said_again_to_the_letter(text):
    envelope = signing.open_envelope(text, keys={"k1": KEY}, direction=json.loads(text)["dir"])
    again = signing.seal(envelope.body, key=KEY, boot=envelope.boot, seq=envelope.seq, version=2)

    assert again == text


def test_p18_a_start_for_an_owner_or_with_a_fence_is_not_said_to_an_agent_that_knows_neither():
    start, plain, _ = (codec.decode(json.loads(text)["body"]) for text in ENVELOPES)
    with pytest.raises(errors.ProtocolError, match="needs-version"):
        codec.encode(start, version=messages.FIRST)

    first_version.check(codec.encode(plain, version=messages.FIRST))


def test_p18_an_end_by_the_fence_reads_as_gone_to_an_older_controller():
    ended = codec.decode(json.loads(ENVELOPES[2])["body"])

    assert codec.encode(ended, version=messages.FIRST)["cause"] == "gone"
