import os
import pathlib
import signal
import subprocess
import sys

from xceweb.stack import children, waiting


def spawn(script: str, directory: pathlib.Path) -> subprocess.Popen[bytes]:
    return children.spawn(["/bin/sh", "-c", script], log=directory / "log" / "child.log", account=None)


def test_output_and_errors_are_appended_to_a_private_log(tmp_path):
    for word in ("one", "two"):
        assert spawn(f"echo {word}; echo {word} >&2", tmp_path).wait() == 0
    log = tmp_path / "log" / "child.log"

    assert log.read_text().split() == ["one", "one", "two", "two"]
    assert log.stat().st_mode & 0o777 == 0o600


def test_a_child_has_a_session_of_its_own(tmp_path):
    child = spawn("read x", tmp_path)
    session = os.getsid(child.pid) if child.poll() is None else child.pid
    child.wait()

    assert session == child.pid != os.getsid(0)


def test_a_child_takes_signals_although_its_parent_ignores_or_blocks_them(tmp_path):
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
    try:
        child = spawn("sleep 60", tmp_path)
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])

    assert children.stop(child, with_signal=signal.SIGTERM, grace_s=10) == -signal.SIGTERM


def test_a_child_that_ignores_the_request_is_killed_with_its_group(tmp_path):
    child = spawn("trap '' TERM; sleep 60 & echo ready; while :; do wait; done", tmp_path)
    log = tmp_path / "log" / "child.log"
    waiting.until(lambda: "ready" in log.read_text(), deadline_s=10, what="the trap")

    assert children.stop(child, with_signal=signal.SIGTERM, grace_s=0.2) == -signal.SIGKILL
    waiting.until(lambda: not group_exists(child.pid), deadline_s=10, what="the end of the group")


def test_stopping_what_has_ended_returns_its_exit_code(tmp_path):
    child = spawn("exit 7", tmp_path)
    child.wait()

    assert children.stop(child, with_signal=signal.SIGTERM, grace_s=1) == 7


def test_children_go_when_their_parent_is_killed(tmp_path):
    parent = subprocess.Popen(
        [sys.executable, "-P", "-c", PARENT, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    child = int(parent.stdout.readline())
    parent.kill()
    parent.communicate()

    waiting.until(lambda: not group_exists(child), deadline_s=10, what="the end of the orphan")


def test_the_tail_of_a_log_is_one_line(tmp_path):
    log = tmp_path / "x.log"
    log.write_text("1\n2\n\n3\n4\n")

    assert children.tail(log, lines=3) == "3 | 4"
    assert children.tail(tmp_path / "missing.log") == ""


PARENT = """
import pathlib, signal, sys
from xceweb.stack import children
child = children.spawn(["sleep", "60"], log=pathlib.Path(sys.argv[1], "x.log"), account=None)
print(child.pid, flush=True)
signal.pause()
"""


def group_exists(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True
