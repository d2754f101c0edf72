"""The warning of a stop, over deaths of agents and full disks."""

import errno

import pytest

from scheduler.agent import journal, memory, notices, records, runs
from scheduler.protocol import fields
from tests.scheduler.agent import bench

NOW_MS = 50_000


@pytest.fixture
def store(tmp_path):
    one = memory.Memory(journal.Journal(tmp_path / "journal"), boot="b")
    one.load()
    yield one
    one.close()


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    monkeypatch.setattr(records, "monotonic_ms", lambda: NOW_MS)


def a_stop(**more):
    facts = {"signal": 15, "grace_ms": 10_000, "suspend_grace_ms": 0, "begun_ms": NOW_MS - 4000}
    return runs.Stop("c", True, cause=fields.EndCause.KILLED, **facts | more)


def a_run(store, warning=None):
    start = bench.a_start()
    store.accept(start)
    run = store.book.runs[start.session]
    run.warning = warning
    return run


def test_one_that_was_not_sent_is_sent_and_gives_all_of_its_time(store):
    run = a_run(store)
    notice = notices.of(run, a_stop(), store)
    notice.sent(True)

    assert notice.grace_ms == 10_000
    assert run.warning == runs.Warned(True, NOW_MS + 10_000)


def test_one_that_was_sent_is_not_sent_again_and_gives_what_is_left(store):
    notice = notices.of(a_run(store, runs.Warned(True, 1)), a_stop(), store)

    assert (notice.grace_ms, notice.on_sent) == (6000, None)


def test_a_kill_that_has_begun_gives_no_time_any_more(store):
    assert notices.of(a_run(store), a_stop(kill_begun=True), store).grace_ms == 0


def test_a_full_disk_lets_nobody_be_warned_twice(store):
    run = a_run(store)
    store.close()
    with pytest.raises(journal.JournalError):
        notices.of(run, a_stop(), store).sent(True)

    assert notices.of(run, a_stop(), store).on_sent is None


def test_a_full_disk_keeps_no_stop_from_being_carried_out(store, tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(records, "write", full)
    notices.grant(tmp_path, notices.of(a_run(store), a_stop(), store))

    assert not (tmp_path / records.GRACE).exists()
