import pytest
from django.core.management.base import CommandError

from xceweb.stack import commands


def test_commands_run_in_order_and_are_named(capsys):
    commands.main([["check", "--tag", "models"], ["diffsettings", "--all"]])
    output = capsys.readouterr().out

    assert output.index("== check") < output.index("== diffsettings")
    assert "ROOT_URLCONF" in output


def test_the_first_failure_ends_it_with_the_name_of_the_command(capsys):
    with pytest.raises(SystemExit, match="check failed: CommandError") as ended:
        commands.main([["check", "--tag", "no-such-tag"], ["diffsettings"]])

    assert isinstance(ended.value.__cause__, CommandError)
    assert "== diffsettings" not in capsys.readouterr().out
