"""The demo programs as sessions start them: real processes, by path."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys

import pytest

from scheduler.demo import programs

DIRECTORY = pathlib.Path(programs.__file__).parent
ALL = ("primes", "pi", "sorting", "training")


@pytest.fixture
def start(tmp_path):
    """Start programs with a checkpoint directory of their own; none is left behind."""
    running = []

    def start_one(name, *options):
        argv = [sys.executable, "-B", str(DIRECTORY / f"{name}.py"), *map(str, options)]
        env = {"XCE_CHECKPOINT_DIR": str(tmp_path), "PATH": os.defpath}
        running.append(subprocess.Popen(argv, env=env, stdout=subprocess.PIPE, text=True))
        return running[-1]

    yield start_one
    for process in running:
        process.kill()
        process.communicate()


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
def test_a_stopped_program_goes_on_from_its_checkpoint_to_the_same_result(start, name):
    whole, _ = start(name, "--steps", 6, "--step-ms", 1, "--size", 200).communicate(timeout=30)
    stopped = start(name, "--steps", 6, "--step-ms", 60_000, "--size", 200)
    until(stopped, "step 1/6")
    stopped.send_signal(signal.SIGTERM)
    assert "checkpoint at step 1" in stopped.communicate(timeout=30)[0]
    again, _ = start(name, "--steps", 6, "--step-ms", 1, "--size", 200).communicate(timeout=30)

    assert stopped.returncode == -signal.SIGTERM
    assert again.startswith("resumed from checkpoint at step 1\nstep 2/6")
    assert whole.splitlines()[-2:] == again.splitlines()[-2:]


def test_a_checkpoint_is_whole_and_goes_when_the_work_is_done(start, tmp_path):
    process = start("primes", "--steps", 2, "--step-ms", 60_000, "--size", 100)
    until(process, "step 1/2")
    process.terminate()
    process.wait(timeout=30)

    assert json.loads((tmp_path / "checkpoint.json").read_text()) == {"step": 1, "state": 25}

    start("primes", "--steps", 2, "--step-ms", 1, "--size", 100).communicate(timeout=30)

    assert list(tmp_path.iterdir()) == []


def test_primes_are_counted_rightly(start):
    output, _ = start("primes", "--steps", 10, "--step-ms", 1, "--size", 1000).communicate(timeout=30)

    assert "step 1/10: 168 primes below 1000\n" in output
    assert "step 10/10: 1229 primes below 10000\n" in output


def test_pi_is_about_right(start):
    output, _ = start("pi", "--steps", 5, "--step-ms", 1, "--size", 20000).communicate(timeout=30)

    assert 3.12 < float(re.findall(r"pi is about (\S+)", output)[-1]) < 3.16


def test_the_loss_of_the_training_falls(start):
    output, _ = start("training", "--steps", 40, "--step-ms", 1, "--size", 300).communicate(timeout=30)
    losses = [float(loss) for loss in re.findall(r"loss (\S+)", output)]

    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < losses[0] / 4


def test_a_program_that_is_stopped_and_continued_keeps_its_counter(start):
    process = start("primes", "--steps", 40, "--step-ms", 50, "--size", 100)
    until(process, "step 2/40")
    process.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOWAIT)
    process.send_signal(signal.SIGCONT)
    rest = until(process, "step 5/40")

    assert [line.partition(":")[0] for line in rest] == ["step 3/40", "step 4/40", "step 5/40"]


def test_occupy_lives_about_as_long_as_it_is_told(start):
    process = start("occupy", "--ms", 600)
    before = os.times().elapsed
    process.communicate(timeout=30)

    assert 0.55 < os.times().elapsed - before < 5
    assert process.returncode == 0
