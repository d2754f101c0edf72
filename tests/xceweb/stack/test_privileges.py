import os
import pathlib
import subprocess
import sys

import pytest

from xceweb.stack import accounts, errors, privileges

STRANGER = accounts.Account("stranger", 54321, 54321)


def test_a_directory_is_entered_by_the_bits_that_apply(tmp_path):
    tmp_path.chmod(0o755)
    assert privileges.may_enter(tmp_path, STRANGER)
    tmp_path.chmod(0o711)
    assert not privileges.may_enter(tmp_path, STRANGER)
    owner = accounts.Account("owner", tmp_path.stat().st_uid, 54321)
    tmp_path.chmod(0o077)
    assert not privileges.may_enter(tmp_path, owner)
    tmp_path.chmod(0o700)
    assert privileges.may_enter(tmp_path, owner)


def test_the_outermost_closed_directory_is_found(tmp_path):
    inner = tmp_path / "closed" / "inner"
    inner.mkdir(parents=True)
    open_up(tmp_path)
    assert privileges.closed_directory([inner], STRANGER) is None
    inner.chmod(0o700)
    inner.parent.chmod(0o700)

    assert privileges.closed_directory([inner], STRANGER) == inner.parent


def test_nothing_happens_without_an_account(tmp_path):
    before = os.readlink("/proc/self/ns/mnt")
    privileges.enter(tmp_path, None)

    assert os.readlink("/proc/self/ns/mnt") == before


def test_the_interpreter_and_its_packages_are_among_the_needed():
    needed = privileges.interpreter_directories()

    assert pathlib.Path(sys.prefix).resolve() in needed
    assert pathlib.Path(sys.base_prefix).resolve() in needed


@pytest.mark.usefixtures("only_root")
class TestTheView:
    """What a process of the account sees after root entered the private view."""

    def test_a_closed_checkout_is_reached_at_its_own_path(self, tmp_path):
        answer = look(tmp_path, "closed/data", "cat ../../closed/data/inside; id -u")

        assert answer.splitlines() == ["kept", "65534"]

    def test_the_rest_of_the_closed_directory_is_not_exposed(self, tmp_path):
        (tmp_path / "closed").mkdir()
        (tmp_path / "closed" / "secret").write_text("secret")
        answer = look(tmp_path, "closed/data", "ls ..")

        assert answer.split() == ["data"]

    def test_what_is_written_there_is_written_for_everybody(self, tmp_path):
        look(tmp_path, "closed/data", "echo new > made")

        assert (tmp_path / "closed" / "data" / "made").read_text() == "new\n"

    def test_the_view_of_the_machine_is_unchanged(self, tmp_path):
        look(tmp_path, "closed/data", "true")

        assert str(tmp_path) not in pathlib.Path("/proc/self/mountinfo").read_text()
        assert (tmp_path / "closed").stat().st_mode & 0o777 == 0o700

    def test_of_a_needed_directory_that_is_closed_itself_the_content_is_shown(self, tmp_path):
        closed = tmp_path / "own"
        (closed / "below").mkdir(parents=True)
        (closed / "below" / "file").write_text("text")
        (closed / "link").symlink_to("below/file")
        closed.chmod(0o700)
        answer = run_in_view(VIEW_OF_CLOSED, closed, "cat below/file link")

        assert answer == "texttext"


def test_a_kernel_that_refuses_is_one_line_that_says_what_to_do(monkeypatch, tmp_path):
    class Refusing:
        def unshare(self, flags: int) -> int:
            return -1

    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    monkeypatch.setattr(privileges, "_libc", Refusing)

    with pytest.raises(errors.StackError, match="start as an ordinary user, or move both"):
        privileges.enter(closed, STRANGER)


def look(directory: pathlib.Path, place: str, command: str) -> str:
    """Run a command as the account in a data directory below a closed one."""
    data = directory / place
    data.mkdir(parents=True, exist_ok=True)
    (data / "inside").write_text("kept\n")
    data.parent.chmod(0o700)
    accounts.give_tree(data, accounts.choose())
    return run_in_view(VIEW_OF_DATA, data, command)


def run_in_view(script: str, place: pathlib.Path, command: str) -> str:
    done = subprocess.run(
        [sys.executable, "-P", "-c", script, str(place), command], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    return done.stdout


def open_up(path: pathlib.Path) -> None:
    """Let everybody enter a directory of the tests and those above it that belong to them."""
    for directory in [path, *path.parents]:
        if directory.stat().st_mode & 0o077 == 0 and "pytest" in str(directory):
            directory.chmod(0o755)


VIEW_OF_DATA = """
import pathlib, subprocess, sys
from xceweb.stack import accounts, privileges
account, place = accounts.choose(), pathlib.Path(sys.argv[1])
privileges.enter(place, account)
sys.exit(subprocess.call(["sh", "-c", sys.argv[2]], cwd=place, **accounts.popen_arguments(account)))
"""
VIEW_OF_CLOSED = VIEW_OF_DATA.replace(
    "privileges.enter(place, account)",
    "privileges._become_private(); privileges._open_all([place], account)",
)
