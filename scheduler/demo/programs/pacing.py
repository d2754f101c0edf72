"""
One piece of work a second, a line for each, a checkpoint when asked to stop: what all demo programs share.

SIGTERM stays blocked and is waited for between two pieces, so a piece is never torn and the program leaves at
once when it rests. It writes its checkpoint and then dies of that very signal: whoever stopped it sees that
it did not finish.
"""

import argparse
import json
import os
import pathlib
import random
import signal
import time

CHECKPOINT = "checkpoint.json"
EVERY_STEPS = 10


def parse(description, **defaults):
    """
    Read the options that all programs take.

    Args:
        description: one sentence for --help.
        defaults: overrides of steps, step_ms, size and seed.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--steps", type=int, default=defaults.get("steps", 60), help="pieces of work")
    parser.add_argument("--step-ms", type=int, default=defaults.get("step_ms", 1000), help="pace of a piece")
    parser.add_argument("--size", type=int, default=defaults.get("size", 1000), help="work in one piece")
    parser.add_argument("--seed", type=int, default=defaults.get("seed", 1), help="start of the generator")
    return parser.parse_args()


def run(options, start, step):
    """
    Work through all steps, from the checkpoint if there is one.

    Args:
        options: what `parse` returned; steps and step_ms count here.
        start: the state before the first step; JSON.
        step: called with (state, number from 1); returns the new state and a progress line, empty for none.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    os.nice(10)
    done, state = _restore(start)
    while done < options.steps:
        begun = time.monotonic()
        state, text = step(state, done + 1)
        done += 1
        if text:
            print(f"step {done}/{options.steps}: {text}", flush=True)
        _rest(begun + options.step_ms / 1000, done=done, state=state)
    _path().unlink(missing_ok=True)
    print(f"finished after {done} steps", flush=True)


def generator(seed, number):
    """Return the random numbers of one step: a step that is done again draws the same."""
    return random.Random(seed * 1_000_003 + number)  # noqa: S311


def _rest(until, *, done, state):
    """Wait for the next piece; obey a stop that was asked for since the last rest."""
    caught = signal.sigtimedwait({signal.SIGTERM}, max(0, until - time.monotonic()))
    # CPython answers with an uninitialised struct when the wait was cut short by a stop that outlasted it.
    if caught is not None and caught.si_signo == signal.SIGTERM:
        save(done, state)
        print(f"checkpoint at step {done}", flush=True)
        _die()
    if done % EVERY_STEPS == 0:
        save(done, state)


def _die():
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    os.kill(os.getpid(), signal.SIGTERM)


def save(done, state):
    """Write the checkpoint so that it is there whole or not at all."""
    fresh = _path().with_suffix(".new")
    with open(fresh, "w") as file:
        json.dump({"step": done, "state": state}, file)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(_path())


def _restore(start):
    try:
        found = json.loads(_path().read_text())
    except FileNotFoundError:
        return 0, start
    print(f"resumed from checkpoint at step {found['step']}", flush=True)
    return found["step"], found["state"]


def _path():
    return pathlib.Path(os.environ.get("XCE_CHECKPOINT_DIR", ".")) / CHECKPOINT
