import pytest

from xceweb.stack import errors


@pytest.mark.parametrize(
    ("raised", "line"),
    [
        (errors.StackError("port 1 is taken"), "error: port 1 is taken\n"),
        (
            OSError(28, "No space left on device", "/full"),
            "error: [Errno 28] No space left on device: '/full'\n",
        ),
    ],
)
def test_what_cannot_be_done_is_one_line_and_exit_code_1(raised, line, capsys):
    def main() -> int:
        raise raised

    with pytest.raises(SystemExit) as ended:
        errors.run(main)

    assert ended.value.code == 1
    assert capsys.readouterr().err == line


def test_the_exit_code_of_the_command_is_kept():
    with pytest.raises(SystemExit) as ended:
        errors.run(lambda: 3)

    assert ended.value.code == 3


def test_an_interrupt_is_no_traceback():
    def main() -> int:
        raise KeyboardInterrupt

    with pytest.raises(SystemExit) as ended:
        errors.run(main)

    assert ended.value.code == 130
