"""Hold what the session was given for a time and do nothing: the stand-in for the sessions of a trace."""

import argparse

import pacing

TICK_MS = 250
LINE_EVERY = 20


def main():
    """Live for `--ms` milliseconds of running time; time in which it is stopped does not count."""
    parser = argparse.ArgumentParser(description="Hold slots for a time.")
    parser.add_argument("--ms", type=int, default=10_000, help="milliseconds to live")
    lifetime_ms = parser.parse_args().ms
    ticks = max(1, -(-lifetime_ms // TICK_MS))
    pacing.run(argparse.Namespace(steps=ticks, step_ms=lifetime_ms / ticks), None, tell)


def tell(state, number):
    """Say now and then that it is still there."""
    return state, "" if number % LINE_EVERY else "still here"


if __name__ == "__main__":
    main()
