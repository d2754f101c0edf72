"""Progress on a terminal and elsewhere."""

import io

from django.core.management.base import OutputWrapper

from scheduler.management import progress


class Terminal(io.StringIO):
    """Text that takes itself for a terminal."""

    def isatty(self):
        return True


def show(out, *, total):
    with progress.Progress(OutputWrapper(out), total=total) as bar:
        for done in range(1, total + 1):
            bar.show(done, "submitted")
    return out.getvalue()


def test_a_bar_grows_on_a_terminal():
    drawn = show(Terminal(), total=4).split("\r")[1:]

    assert [line.split()[1] for line in drawn] == ["1/4", "2/4", "3/4", "4/4"]
    assert drawn[-1].startswith("[" + "#" * 30 + "]")
    assert drawn[-1].endswith("\n")


def test_elsewhere_a_line_is_written_for_each_tenth():
    lines = show(io.StringIO(), total=200).splitlines()

    assert lines[-1] == "200/200 submitted"
    assert 10 <= len(lines) <= 12


def test_few_things_have_a_line_each():
    assert show(io.StringIO(), total=2).splitlines() == ["1/2 submitted", "2/2 submitted"]
