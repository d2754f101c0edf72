"""Demo programs as sessions start them: real processes, by path, with a checkpoint directory of their own."""

import os
import pathlib
import subprocess
import sys

import pytest

from scheduler.demo import programs

DIRECTORY = pathlib.Path(programs.__file__).parent


@pytest.fixture
def start(tmp_path):
    """Start programs; none is left behind."""
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


@pytest.fixture
def output_of(start):
    """Run a program at full speed to its end and return what it wrote."""

    def run(name, *options):
        return start(name, "--step-ms", 1, *options).communicate(timeout=30)[0]

    return run
