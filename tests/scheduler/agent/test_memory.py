"""Journal and book together: numbers that only rise, answers that come again, compaction without loss."""

import itertools

import pytest

from scheduler.agent import journal, memory
from scheduler.protocol import messages
from tests.scheduler.agent import bench as benches


@pytest.fixture
def path(tmp_path):
    return tmp_path / "journal"


def opened(path):
    one = memory.Memory(journal.Journal(path), boot="b")
    one.sent = []
    one.on_report = lambda number, report: one.sent.append((number, report))
    one.load()
    return one


def gone(**more):
    return messages.Gone(session=benches.new_id(), epoch=1, command_id=benches.new_id(), **more)


def test_numbers_rise_within_and_over_restarts(path):
    first = opened(path)
    numbers = [first.next_number() for _ in range(100_000)]
    first.close()
    second = opened(path)
    numbers += [second.next_number() for _ in range(1000)]
    second.close()

    risen = all(earlier < later for earlier, later in itertools.pairwise(numbers))
    assert risen, "a number did not rise"


def test_a_report_is_on_disk_before_it_is_sent(path):
    one = opened(path)
    seen = []
    one.on_report = lambda number, report: seen.append(path.read_text().count("\n"))
    one.report(gone())
    one.close()

    assert seen == [1]


def test_an_answer_is_repeated_under_its_number_while_it_waits_and_under_a_new_one_later(path):
    one = opened(path)
    one.report(gone())
    (number, answer) = one.sent[0]
    one.repeat(answer)
    one.acknowledge((number,))
    one.repeat(answer)
    one.close()

    assert [n == number for n, _ in one.sent] == [True, True, False]
    assert {report for _, report in one.sent} == {answer}


def test_unknown_acknowledgements_change_nothing(path):
    one = opened(path)
    one.acknowledge((("b", 1), ("c", 2)))
    one.close()

    assert path.read_text() == ""


def test_compaction_keeps_what_is_known(path):
    one = opened(path)
    for _ in range(5):
        one.report(gone())
    for number, _ in one.sent[:4]:
        one.acknowledge((number,))
    one.compact(at=100)
    long = path.read_text().count("\n")
    one.compact(at=5)
    waiting = dict(one.book.outbox)
    one.close()
    again = opened(path)
    again.close()

    assert (long, path.read_text().count("\n")) == (9, 1)
    assert again.book.outbox == waiting
    assert len(waiting) == 1


def test_a_mention_is_stamped_and_not_remembered(path):
    one, said = opened(path), []
    one.on_mention = said.append
    one.mention(gone())
    one.close()

    assert said[0].at_mono_ms > 0
    assert path.read_text() == ""


def test_a_stamp_is_given_once():
    assert memory.stamp(gone(at_mono_ms=7)).at_mono_ms == 7
