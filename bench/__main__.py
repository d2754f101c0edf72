"""
Measures the scheduling core (selection beside CP-SAT and beside three schedulers' rules, whole rounds), the agent, and
the whole: rounds on PostgreSQL, preemptions and sessions from end to end with real processes, the REST API, the pages
with 100,000 sessions, and the live stream beside a plain Channels group.

Prints Markdown tables. Figures of a shared machine are noisy: compare ratios.
"""

from __future__ import annotations

import argparse
import pathlib
import platform
import sys
from collections.abc import Callable

from bench import agent, api, cluster, latency, pages, round_db, stream, throughput, whole_round


def main(arguments: list[str]) -> int:
    """Run what was asked for."""
    options = _parser().parse_args(arguments)
    print(f"Python {platform.python_version()}, {platform.machine()}\n")
    for name in options.what or list(COMMANDS):
        print(COMMANDS[name](options), end="\n\n", flush=True)
    return 0


def _selection(options: argparse.Namespace) -> str:
    from bench import selection  # loads the solver, which takes a while

    return selection.report(seeds=options.seeds, solver=not options.no_solver)


def _traces(options: argparse.Namespace) -> str:
    from bench import traces

    if options.traces is None:
        return (
            "### Nodes rebuilt from traces\n\nNot measured: `--traces DIRECTORY` names no recorded workloads."
        )
    return traces.report(options.traces, seeds=1)


COMMANDS: dict[str, Callable[[argparse.Namespace], str]] = {
    "selection": _selection,
    "cluster": lambda options: cluster.report(seeds=options.seeds),
    "traces": _traces,
    "agent": lambda options: agent.report(runs=max(options.seeds, 20)),
    "round_db": lambda options: round_db.report(seeds=min(options.seeds, 3)),
    "latency": lambda options: latency.report(runs=options.seeds),
    "throughput": lambda options: throughput.report(sessions=options.sessions),
    "api": lambda options: api.report(sessions=options.sessions),
    "stream": lambda options: stream.report(),
    "web": lambda options: pages.report(),
    "round": lambda options: whole_round.report(seeds=min(options.seeds, 20)),
}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="bin/bench", description=__doc__)
    parser.add_argument("what", nargs="*", choices=list(COMMANDS), help="what to measure; default all")
    parser.add_argument("--seeds", type=int, default=20, help="instances per row, default 20")
    parser.add_argument("--sessions", type=int, default=1000, help="of throughput and api, default 1000")
    parser.add_argument("--no-solver", action="store_true", help="leave CP-SAT out")
    parser.add_argument("--traces", type=pathlib.Path, help="directory of recorded workloads")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
