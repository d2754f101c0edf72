"""The one supervising command: `python -m xceweb.stack.up`, started by `bin/up`."""

import argparse
import os
import pathlib
import signal
from collections.abc import Callable, Mapping, Sequence

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
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def main(arguments: Sequence[str] | None = None) -> int:
    """Start everything on this machine, keep it running, stop it at Ctrl-C."""
    options = _parser().parse_args(arguments)
    _on_signals(signal.default_int_handler)
    account = accounts.choose()
    directory = datadir.open_at(options.data_dir, account)
    held = datadir.lock(directory)
    if not ports.is_free(options.port):
        raise errors.StackError(f"port {options.port} is taken by another program; choose one with --port")
    privileges.enter(directory.root, account)
    watch = supervisor.Supervisor(_say, directory.root / "log")
    try:
        _run(watch, directory, account=account, options=options)
    except KeyboardInterrupt:
        _say("stopping")
    finally:
        _on_signals(signal.SIG_IGN)
        watch.stop()
        directory.run_file.unlink(missing_ok=True)
        os.close(held)
    return 0


def _run(
    watch: supervisor.Supervisor,
    directory: datadir.DataDir,
    *,
    account: accounts.Account | None,
    options: argparse.Namespace,
) -> None:
    backing = embedded.choose(directory, account)
    named = {**backing.env, "XCE_PUBLIC_URL": _url(options.port)}
    env = {**os.environ, **services.base_environment(directory), **named}
    ground = services.Ground(directory, account, env)
    for service in backing.services:
        watch.start(service)
    first_start.prepare(ground, demo=not options.no_demo)
    watch.start(services.web(ground, port=options.port), services.worker(ground), services.beat(ground))
    care = _Care(watch, ground, named)
    care.take()
    _wait_until_ready(watch, options.port)
    _announce(directory, _url(options.port))
    watch.run(care.take)


class _Care:
    """What is done again and again while the stack runs: agents of new nodes, the record of the processes."""

    def __init__(self, watch: supervisor.Supervisor, ground: services.Ground, env: Mapping[str, str]) -> None:
        self._watch, self._ground, self._env = watch, ground, env
        self._recorded: dict[str, int] = {}

    def take(self) -> None:
        """Start the agent of every node whose key has come, and record processes that changed."""
        if new := self._new_agents():
            self._watch.start(*new)
        if (processes := self._watch.pids()) != self._recorded:
            url = self._env["XCE_PUBLIC_URL"]
            datadir.write_run_file(self._ground.directory, url=url, env=self._env, processes=processes)
            self._recorded = processes

    def _new_agents(self) -> list[services.Service]:
        known, ground = self._watch.names(), self._ground
        agents = {node: services.agent(ground, node=node) for node in first_start.nodes(ground.directory)}
        new = {node: agent for node, agent in agents.items() if agent.name not in known}
        for node in new:
            accounts.give_tree(ground.directory.agents / node, ground.account)
        return list(new.values())


def _url(port: int) -> str:
    return f"http://{ports.LOOPBACK}:{port}"


def _wait_until_ready(watch: supervisor.Supervisor, port: int) -> None:
    def look() -> bool:
        watch.look()
        return services.answers_ok(port, "/readyz")

    waiting.until(look, deadline_s=READY_DEADLINE_S, what=f"{_url(port)}/readyz")


def _announce(directory: datadir.DataDir, url: str) -> None:
    directory.keep_logins()
    _say(f"ready {url}")
    for login in directory.read(directory.logins_file) or []:
        _say(f"  {login['username']:<12} {login['password']:<24} {login['role']:<14} {login['note']}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="bin/up", description=main.__doc__)
    parser.add_argument("--port", type=_port, default=8000, help="loopback port of the pages (default 8000)")
    default = privileges.PROJECT / ".xce"
    parser.add_argument(
        "--data-dir", type=pathlib.Path, default=default, help="holds all state (default .xce)"
    )
    parser.add_argument("--no-demo", action="store_true", help="start empty, with one administrator")
    return parser


def _port(text: str) -> int:
    number = int(text)
    if not 0 < number < 65536:
        raise argparse.ArgumentTypeError("must be 1 to 65535")
    return number


def _on_signals(action: Callable[..., object] | signal.Handlers) -> None:
    for number in SIGNALS:
        signal.signal(number, action)


def _say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    errors.run(main)
