"""The journal: what was appended is there after any crash, or was never acted on."""

import errno
import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scheduler.agent import journal

ENTRIES = [{"kind": "a", "n": 1}, {"kind": "b", "text": "zwölf\nzeilen"}, {"kind": "c", "list": [1, [2]]}]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "journal"


def written(path, entries):
    one = journal.Journal(path)
    one.open()
    for entry in entries:
        one.append(entry)
    one.close()
    return one


def read(path):
    one = journal.Journal(path)
    entries = one.open()
    one.close()
    return entries


def test_entries_come_back_in_order(path):
    written(path, ENTRIES)
    written(path, ENTRIES[:1])

    assert read(path) == [*ENTRIES, ENTRIES[0]]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cut=st.integers(0, 200))
def test_P03_a_crash_in_the_middle_of_a_line_loses_that_line_alone(path, cut):
    path.unlink(missing_ok=True)
    written(path, ENTRIES)
    text = path.read_bytes()
    at = len(text) - min(cut, len(text))
    path.write_bytes(text[:at])
    whole = text[:at].count(b"\n")

    assert read(path) == ENTRIES[:whole]
    written(path, [{"kind": "d"}])
    assert read(path) == [*ENTRIES[:whole], {"kind": "d"}]


@pytest.mark.parametrize("damage", [b"{not json}\n", b"[1]\n", b"\n", b"\xff\n"])
def test_damage_in_the_middle_stops_the_agent_and_names_the_line(path, damage):
    written(path, ENTRIES[:1])
    path.write_bytes(path.read_bytes() + damage + b'{"kind":"d"}\n')
    with pytest.raises(journal.JournalError, match=r"line 2 is damaged.*state directory"):
        journal.Journal(path).open()


def test_a_full_disk_leaves_the_journal_as_it_was(path, monkeypatch):
    one = journal.Journal(path)
    one.open()
    one.append(ENTRIES[0])
    real = os.write

    def full(descriptor, data):
        real(descriptor, data[:5])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(journal.JournalError, match=r"No space left.*nothing was done"):
        one.append(ENTRIES[1])
    monkeypatch.undo()
    one.append(ENTRIES[2])
    one.close()

    assert read(path) == [ENTRIES[0], ENTRIES[2]]


def test_a_line_that_the_disk_took_in_part_counts_as_not_taken(path, monkeypatch):
    one = journal.Journal(path)
    one.open()
    real = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: real(descriptor, data[:5]))
    with pytest.raises(journal.JournalError, match="only a part"):
        one.append(ENTRIES[0])
    monkeypatch.undo()
    one.close()

    assert read(path) == []


def test_an_entry_is_on_disk_before_append_returns(path, monkeypatch):
    synced = []
    one = journal.Journal(path)
    one.open()
    monkeypatch.setattr(os, "fdatasync", lambda descriptor: synced.append(path.read_bytes()))
    one.append(ENTRIES[0])
    one.append(ENTRIES[0], sync=False)
    one.close()

    assert [text.count(b"\n") for text in synced] == [1]


def test_rewriting_replaces_everything_and_writing_goes_on(path):
    one = journal.Journal(path)
    one.open()
    for entry in ENTRIES:
        one.append(entry)
    one.rewrite(ENTRIES[2:])
    one.append(ENTRIES[0])
    one.close()

    assert read(path) == [ENTRIES[2], ENTRIES[0]]
    assert one.lines == 2


def test_only_the_owner_can_read_it(path):
    written(path, ENTRIES)

    assert path.stat().st_mode & 0o777 == 0o600
