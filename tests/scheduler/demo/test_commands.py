"""Command lines of demo programs start what they name."""

import subprocess

from scheduler.demo import commands


def test_every_program_that_computes_can_be_started():
    for name in commands.NAMES:
        argv = [*commands.compute(name, steps=1, seed=5), "--step-ms", "1"]
        assert (
            "finished after 1 steps"
            in subprocess.run(argv, capture_output=True, text=True, timeout=30).stdout
        )


def test_occupy_gets_its_milliseconds():
    assert commands.occupy(1500)[-2:] == ["--ms", "1500"]
