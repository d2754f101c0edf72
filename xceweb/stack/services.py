"""
What the stack runs, in the order of its start: for each process its program, its gate and its way to stop.

A service is described here and supervised elsewhere. `Program` is any command of the project; the two
embedded servers describe themselves.
"""

import dataclasses
import http.client
import os
import pathlib
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import celery
import kombu.exceptions
import redis.exceptions

from xceweb.stack import accounts, children, datadir, ports, privileges

WORKER_NAME = "worker@xce"


class Server(Protocol):
    """A process that can be started again and again."""

    @property
    def log(self) -> pathlib.Path:
        """Where its output goes."""

    def prepare(self) -> None:
        """Make what it needs before its first start."""

    def spawn(self) -> subprocess.Popen[bytes]:
        """Start it and return at once."""

    def is_ready(self) -> bool:
        """Say whether it answers."""


@dataclasses.dataclass(frozen=True)
class Program:
    """One command of the project, run under the account with an environment of its own."""

    argv: Sequence[str]
    env: Mapping[str, str]
    log: pathlib.Path
    account: accounts.Account | None
    ready: Callable[[], bool]
    #: What the kernel sends it when the supervisor was killed: the database decides, SIGKILL loses nothing.
    orphan_signal: signal.Signals = signal.SIGKILL

    def prepare(self) -> None:
        """Need nothing: all is made by `first_start`."""

    def spawn(self) -> subprocess.Popen[bytes]:
        """Start the command and return at once."""
        return children.spawn(
            self.argv, log=self.log, account=self.account, env=self.env, orphan_signal=self.orphan_signal
        )

    def is_ready(self) -> bool:
        """Ask the gate."""
        return self.ready()


@dataclasses.dataclass(frozen=True)
class Service:
    """A server with the name and the manners that the supervisor needs."""

    name: str
    server: Server
    #: The polite request to end, and the seconds it may take.
    stop_signal: signal.Signals = signal.SIGTERM
    grace_s: float = 15
    #: Seconds until its first answer.
    deadline_s: float = 60


@dataclasses.dataclass(frozen=True)
class Ground:
    """What all programs of the project share."""

    directory: datadir.DataDir
    account: accounts.Account | None
    #: Environment of web, worker, beat and commands; agents get none of its secrets.
    env: Mapping[str, str]

    def program(self, name: str, *argv: str, ready: Callable[[], bool]) -> Program:
        """Describe a Python program of the project that knows the database and the broker."""
        return Program(python(*argv), self.env, self.directory.log(name), self.account, ready)


def python(*argv: str) -> list[str]:
    """Return the command line of this interpreter that never takes modules from the current directory."""
    return [sys.executable, "-P", *argv]


def base_environment(directory: datadir.DataDir) -> dict[str, str]:
    """Return the environment that every process gets: no secret, of the caller's variables PATH alone."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "LANG": "C.UTF-8",
        "HOME": str(directory.root / "home"),
        "PYTHONPATH": str(privileges.PROJECT),
        "PYTHONUNBUFFERED": "1",
    }


def web(ground: Ground, *, port: int) -> Service:
    """
    Describe the web server: pages, API and websockets on one loopback port.

    Frames go as they are: they are short, and compressing them costs each socket as much memory as all the rest of it.
    """
    argv = [
        *("-m", "uvicorn", "xceweb.asgi:application"),
        *("--host", ports.LOOPBACK, "--port", str(port)),
        *("--ws", "websockets-sansio", "--ws-per-message-deflate", "false", "--lifespan", "off"),
        *("--no-proxy-headers", "--no-server-header", "--timeout-graceful-shutdown", "3"),
    ]
    return Service("web", ground.program("web", *argv, ready=lambda: answers_ok(port, "/livez")))


def worker(ground: Ground, *, concurrency: int = 3) -> Service:
    """Describe the Celery worker: rounds, reports of agents, and the rest."""
    argv = [
        *("-m", "celery", "-A", "xceweb.celery:app", "worker", "--hostname", WORKER_NAME),
        *("--queues", "rounds,controller,celery", "--concurrency", str(concurrency)),
        *("--max-tasks-per-child", "20000", "--without-gossip", "--without-mingle", "--loglevel", "INFO"),
    ]
    broker = ground.env["BROKER_URL"]
    return Service("worker", ground.program("worker", *argv, ready=lambda: worker_answers(broker)))


def beat(ground: Ground) -> Service:
    """
    Describe Celery's beat.

    Its schedule stays in memory: every entry is due again within seconds, and a file that a kill left half
    written would keep it from starting. It answers nobody; that it lives is all that can be asked.
    """
    argv = [
        *("-m", "celery", "-A", "xceweb.celery:app", "beat"),
        *("--scheduler", "celery.beat:Scheduler", "--pidfile", "", "--loglevel", "WARNING"),
    ]
    return Service("beat", ground.program("beat", *argv, ready=lambda: True))


def agent(ground: Ground, *, node: str) -> Service:
    """
    Describe the agent of one node of this machine; it knows the broker and its own key alone.

    Its gate is its journal: written once key, state directory and lock are in order.
    """
    home = ground.directory.agents / node
    argv = [
        *("-m", "scheduler.agent", "--node", node),
        *("--key-file", str(home / "key.json"), "--state-dir", str(home / "state")),
    ]
    name = f"agent-{node}"
    known = {"XCE_LOG_JSON", "BROKER_URL"} & set(ground.env)
    env = base_environment(ground.directory) | {variable: ground.env[variable] for variable in known}
    program = Program(
        python(*argv),
        env,
        ground.directory.log(name),
        ground.account,
        (home / "state" / "journal").exists,
        orphan_signal=signal.SIGTERM,
    )
    return Service(name, program)


def answers_ok(port: int, path: str) -> bool:
    """Say whether the web server answers 200 on a path."""
    connection = http.client.HTTPConnection(ports.LOOPBACK, port, timeout=5)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def worker_answers(broker_url: str) -> bool:
    """Say whether the Celery worker answers a ping over the broker."""
    with celery.Celery(broker=broker_url, set_as_current=False) as app:
        try:
            return bool(app.control.ping(destination=[WORKER_NAME], timeout=0.5))
        except (OSError, kombu.exceptions.KombuError, redis.exceptions.RedisError):
            return False
