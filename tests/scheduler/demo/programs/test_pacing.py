"""What all demo programs share: steps, checkpoints, stops."""

import json
import os
import re
import signal
import threading

import pytest

ALL = ("primes", "pi", "sorting", "training")


def until(process, text):
    """Read lines up to one that has this text; the process's end or the test's time limit ends the wait."""
    lines = []
    for line in process.stdout:
        lines.append(line)
        if text in line:
            return lines
    raise AssertionError(f"{text!r} never came: {lines}")


@pytest.mark.parametrize("name", ALL)
def test_a_program_counts_its_steps_and_ends_well(start, name):
    process = start(name, "--steps", 3, "--step-ms", 1, "--size", 200)
    output, _ = process.communicate(timeout=30)

    assert process.returncode == 0
    assert re.findall(r"^step (\d)/3: .+$", output, re.M) == ["1", "2", "3"]
    assert output.endswith("finished after 3 steps\n")


@pytest.mark.parametrize("name", ALL)
def test_a_stopped_program_goes_on_from_its_checkpoint_to_the_same_result(start, output_of, name):
    whole = output_of(name, "--steps", 6, "--size", 200)
    stopped = start(name, "--steps", 6, "--step-ms", 60_000, "--size", 200)
    until(stopped, "step 1/6")
    stopped.send_signal(signal.SIGTERM)
    assert "checkpoint at step 1" in stopped.communicate(timeout=30)[0]
    again = output_of(name, "--steps", 6, "--size", 200)

    assert stopped.returncode == -signal.SIGTERM
    assert again.startswith("resumed from checkpoint at step 1\nstep 2/6")
    assert whole.splitlines()[-2:] == again.splitlines()[-2:]


def test_a_checkpoint_is_whole_and_goes_when_the_work_is_done(start, output_of, tmp_path):
    process = start("primes", "--steps", 2, "--step-ms", 60_000, "--size", 100)
    until(process, "step 1/2")
    process.terminate()
    process.wait(timeout=30)

    assert json.loads((tmp_path / "checkpoint.json").read_text()) == {"step": 1, "state": 25}

    output_of("primes", "--steps", 2, "--size", 100)

    assert list(tmp_path.iterdir()) == []


def test_a_checkpoint_is_also_written_now_and_then_without_being_asked(start, tmp_path):
    process = start("primes", "--steps", 12, "--step-ms", 100, "--size", 100)
    until(process, "step 11/12")
    process.kill()

    assert json.loads((tmp_path / "checkpoint.json").read_text())["step"] == 10


def test_a_program_that_is_stopped_and_continued_keeps_its_counter(start):
    process = start("primes", "--steps", 40, "--step-ms", 50, "--size", 100)
    until(process, "step 2/40")
    process.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOWAIT)
    threading.Event().wait(0.3)  # the stop outlasts the rest between two steps: that is the case tested
    process.send_signal(signal.SIGCONT)
    rest = until(process, "step 5/40")

    assert [line.partition(":")[0] for line in rest] == ["step 3/40", "step 4/40", "step 5/40"]
