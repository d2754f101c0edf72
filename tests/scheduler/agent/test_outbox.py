"""When reports are sent again."""

import pytest

from scheduler.agent import journal, memory, outbox, records
from scheduler.protocol import errors, messages, signing
from tests.scheduler.agent import bench as benches
from tests.scheduler.protocol import later_version


class Clock:
    def __init__(self, monkeypatch):
        self.now = 1_000_000
        monkeypatch.setattr(records, "monotonic_ms", lambda: self.now)


@pytest.fixture
def clock(monkeypatch):
    return Clock(monkeypatch)


@pytest.fixture
def store(tmp_path):
    one = memory.Memory(journal.Journal(tmp_path / "journal"), boot="b")
    one.load()
    yield one
    one.close()


@pytest.fixture
def sent():
    return []


@pytest.fixture
def out(store, sent, clock):
    return an_outbox(store, sent)


def an_outbox(store, sent):
    return outbox.Outbox(
        store, key=benches.KEY, send=lambda text, expires_s=None: sent.append(text), pause_ms=1000
    )


def a_report():
    return messages.Gone(session=benches.new_id(), epoch=1, command_id=benches.new_id())


def opened(text):
    return signing.open_envelope(text, keys=benches.KEYS, direction="up")


def test_a_report_goes_at_once_and_then_with_growing_pauses(store, sent, out, clock):
    store.report(a_report())
    times = [0]
    for passed in range(100, 130_001, 100):
        clock.now = 1_000_000 + passed
        before = len(sent)
        out.resend()
        times += [passed] * (len(sent) - before)

    assert times == [0, 1000, 3000, 7000, 15_000, 31_000, 63_000, 123_000]
    assert len({opened(text).seq for text in sent}) == 1


def test_an_acknowledged_report_is_sent_no_more(store, sent, out, clock):
    store.report(a_report())
    store.acknowledge(tuple(store.book.outbox))
    clock.now += 10_000
    out.resend(everything=True)

    assert len(sent) == 1


def test_after_a_reconnect_everything_goes_again_in_order(store, sent, out):
    for _ in range(3):
        store.report(a_report())
    out.resend(everything=True)
    numbers = [opened(text).seq for text in sent]

    assert numbers[3:] == numbers[:3] == sorted(numbers[:3])


def test_what_a_new_agent_finds_waits_for_the_connection(store, sent, clock):
    store.report(a_report())
    out = an_outbox(store, sent)
    out.resend()

    assert sent == []

    clock.now += 1000
    out.resend()

    assert len(sent) == 1


def test_passing_reports_are_sent_once(store, sent, out, clock):
    out.send_once(messages.Heartbeat())
    store.mention(messages.Heartbeat())
    clock.now += 100_000
    out.resend(everything=True)

    assert [opened(text).body.TYPE for text in sent] == ["heartbeat", "heartbeat"]


def test_a_heartbeat_expires_and_nothing_else_does(store, clock):
    ends = []
    out = outbox.Outbox(
        store, key=benches.KEY, send=lambda text, expires_s=None: ends.append(expires_s), pause_ms=1000
    )
    out.send_once(messages.Heartbeat())
    out.send_once(a_report())
    store.report(a_report())

    assert ends == [messages.PASSING_S, None, None]


@pytest.fixture
def later(monkeypatch):
    later_version.speak(monkeypatch)


def versions(sent):
    return [opened(text).version for text in sent]


def test_p18_the_controller_is_answered_in_its_own_version_and_greeted_in_the_first(store, sent, out, later):
    store.report(a_report())
    out.heard(later_version.LATER)
    store.report(a_report())
    out.send_once(messages.Heartbeat())
    out.heard(1)
    store.report(a_report())

    assert versions(sent) == [1, later_version.LATER, 1, 1]


def test_p18_a_report_that_nobody_acknowledges_falls_back_to_the_first_version(
    store, sent, out, later, clock
):
    out.heard(later_version.LATER)
    store.report(later_version.Gone(why="left"))
    for _ in range(8):
        clock.now += 60_000
        out.resend()

    assert versions(sent) == [later_version.LATER] * 6 + [1] * 3
    assert [opened(text).body.why for text in sent[5:7]] == ["left", None]


def test_p18_a_report_that_an_old_controller_does_not_know_waits_for_a_new_one(store, sent, out, later):
    store.report(later_version.Paused())
    before = list(sent)
    out.heard(later_version.LATER)
    out.resend(everything=True)

    assert before == []
    assert opened(sent[0]).body.TYPE == "paused"


def test_of_heartbeats_that_were_heard_the_latest_moment_of_sending_counts(store, sent, out, clock):
    heard = []
    out.on_heard = heard.append
    for moment in (1000, 2000, 3000):
        clock.now = moment
        out.send_once(messages.Heartbeat())
    out.send_once(messages.Gone())
    numbers = [(e.boot, e.seq) for e in map(opened, sent)]
    out.acknowledged((numbers[1], numbers[0], ("b", 7)))
    out.acknowledged((numbers[1], numbers[3]))

    assert heard == [2000]


def test_a_report_that_breaks_its_bounds_is_not_taken_for_one_that_waits(out):
    with pytest.raises(errors.ProtocolError, match="out-of-range"):
        out.send_once(messages.Heartbeat(at_mono_ms=-1))
