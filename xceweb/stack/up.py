"""The one supervising command: `python -m xceweb.stack.up`, started by `bin/up`."""

import argparse
import os
import pathlib
import signal
import sys
from collections.abc import Sequence

from xceweb.stack import (
    accounts,
    datadir,
    embedded,
    errors,
    first_start,
    ports,
    privileges,
    services,
    supervisor,
    waiting,
)

READY_DEADLINE_S = 90


def main(arguments: Sequence[str] | None = None) -> int:
    """Start the stack, keep it running, stop it at Ctrl-C."""
    options = _parser().parse_args(arguments)
    _interrupt_on_signals()
    account = accounts.choose()
    directory = datadir.open_at(options.data_dir, account)
    held = datadir.lock(directory)
    _check_port(options.port)
    privileges.enter(directory.root, account)
    watch = supervisor.Supervisor(_say, directory.root / "log")
    try:
        _start(watch, directory, account=account, options=options)
        watch.run()
    except KeyboardInterrupt:
        _say("stopping")
    finally:
        _ignore_signals()
        watch.stop()
        directory.run_file.unlink(missing_ok=True)
        os.close(held)
    return 0


def _start(
    watch: supervisor.Supervisor,
    directory: datadir.DataDir,
    *,
    account: accounts.Account | None,
    options: argparse.Namespace,
) -> None:
    url = f"http://{ports.LOOPBACK}:{options.port}"
    backing = embedded.choose(directory, account)
    for service in backing.services:
        watch.start(service)
    env = {**os.environ, **services.base_environment(directory), **backing.env, "XCE_PUBLIC_URL": url}
    ground = services.Ground(directory, account, env)
    first_start.prepare(ground, demo=not options.no_demo)
    for service in _application(ground, port=options.port):
        watch.start(service)
    datadir.write_run_file(directory, url=url, env={**backing.env, "XCE_PUBLIC_URL": url})
    waiting.until(
        lambda: watch.look() or services.answers_ok(options.port, "/readyz"),
        deadline_s=READY_DEADLINE_S,
        what=f"{url}/readyz",
    )
    _announce(directory, url)


def _application(ground: services.Ground, *, port: int) -> list[services.Service]:
    agents = [services.agent(ground, node=node) for node in first_start.nodes(ground.directory)]
    return [services.web(ground, port=port), services.worker(ground), services.beat(ground), *agents]


def _announce(directory: datadir.DataDir, url: str) -> None:
    _say(f"ready {url}")
    for login in directory.read(directory.logins_file) or []:
        _say(f"  {login['username']:<10} {login['password']:<24} {login['role']:<14} {login['note']}")


def _check_port(port: int) -> None:
    if not ports.is_free(port):
        raise errors.StackError(f"port {port} is taken by another program; choose one with --port")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="bin/up", description=main.__doc__)
    parser.add_argument("--port", type=_port, default=8000, help="loopback port of the pages (default 8000)")
    default = privileges.PROJECT / ".xce"
    parser.add_argument(
        "--data-dir", type=pathlib.Path, default=default, help="where all state is (default .xce)"
    )
    parser.add_argument("--no-demo", action="store_true", help="start empty, with one administrator")
    return parser


def _port(text: str) -> int:
    number = int(text)
    if not 0 < number < 65536:
        raise argparse.ArgumentTypeError("must be 1 to 65535")
    return number


def _interrupt_on_signals() -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)


def _ignore_signals() -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)


def _say(line: str) -> None:
    print(line, file=sys.stdout, flush=True)


if __name__ == "__main__":
    errors.run(main)
