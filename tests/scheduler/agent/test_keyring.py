"""A node's key: read from its file, and replaced while the agent runs."""

import dataclasses
import json
import os

import pytest

from scheduler.agent import keyring
from scheduler.protocol import errors, messages, signing
from tests.scheduler.agent import bench as benches

OLD = benches.KEY
NEW = signing.NodeKey("k2", "n1", b"n" * 32)
ORDER = messages.AckCommand(reports=())


@pytest.fixture
def path(tmp_path):
    place = tmp_path / "key.json"
    put(place, OLD)
    return place


@pytest.fixture
def ring(path):
    return keyring.KeyRing(OLD, path)


def put(path, key):
    """Put a key file in the place of another, whole, as an administrator should."""
    content = {"node": key.node, "key_id": key.key_id, "secret": key.secret.hex()}
    new = path.with_suffix(".new")
    new.write_text(json.dumps(content))
    os.replace(new, path)


def order(key):
    return signing.seal(ORDER, key=key, boot="c", seq=1)


def test_a_key_is_read_as_it_was_enrolled(path):
    assert keyring.read(path, node="n1") == OLD


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"node":"n1","key_id":"k","secret":"xyz"}'])
def test_a_key_file_of_another_form_is_refused(path, text):
    path.write_text(text)
    with pytest.raises(keyring.KeyFileError, match="write it with agent_enroll"):
        keyring.read(path, node="n1")


def test_a_key_of_another_node_is_refused(path):
    with pytest.raises(keyring.KeyFileError, match="belongs to the node n1, not to n2"):
        keyring.read(path, node="n2")


def test_a_file_that_is_as_it_was_changes_nothing(ring, path):
    os.utime(path)

    assert not ring.refresh()
    assert ring.current is OLD


def test_a_new_key_is_used_at_once_and_the_old_one_accepted_until_the_controller_has_it(ring, path):
    put(path, NEW)
    has_new = ring.refresh()
    meanwhile = ring.open(order(OLD)).key_id
    since = ring.open(order(NEW)).key_id

    assert has_new
    assert ring.current == NEW
    assert (meanwhile, since) == ("k1", "k2")
    with pytest.raises(errors.ProtocolError, match="unknown-key"):
        ring.open(order(OLD))


@pytest.mark.parametrize(
    "spoil",
    [
        lambda path: path.unlink(),
        lambda path: path.write_text("{"),
        lambda path: put(path, dataclasses.replace(NEW, node="n2")),
    ],
    ids=["gone", "cut", "of another node"],
)
def test_a_bad_file_leaves_the_key_as_it_is_until_it_is_good_again(ring, path, spoil, caplog):
    spoil(path)
    ring.refresh()
    ring.refresh()

    assert ring.current is OLD
    assert sum("the key stays" in record.getMessage() for record in caplog.records) == 1

    put(path, NEW)

    assert ring.refresh()


async def test_p08_a_running_agent_takes_a_new_key_and_its_sessions_run_on(bench, path, monkeypatch):
    monkeypatch.setitem(benches.KEYS, NEW.key_id, NEW)
    bench.options = dataclasses.replace(bench.options, key_file=path)
    await bench.restart()
    run = await bench.started()
    put(path, NEW)
    await bench.until(
        lambda: [e.key_id for e in bench.wire.envelopes if type(e.body) is messages.Hello][-1] == "k2",
        "it greets with the new key",
    )
    stop = run.suspend()
    bench.tell(stop, key=NEW)
    stopped = await bench.report(messages.Stopped, command_id=stop.command_id)
    bench.tell(run.kill())

    assert [member.pid for member in stopped.members] == [run.pid]
    assert {e.key_id for e in bench.wire.envelopes[-3:]} == {"k2"}
    assert run.members != []
