"""What must be true of database and files before the application starts; repeated at every start."""

import json
import signal
import subprocess
from collections.abc import Sequence

from xceweb.stack import accounts, children, datadir, errors, keys, services

DEMO_NODES = ("gpu-1", "gpu-2", "batch-1", "batch-2")
DEADLINE_S = 300


def prepare(ground: services.Ground, *, demo: bool) -> None:
    """
    Migrate the database, collect static files, and fill an empty installation.

    Args:
        demo: on the first start, the demo cluster with its log-ins; otherwise one administrator.

    Raises:
        StackError: a command failed; the message names it and its last lines.
    """
    seeded = ground.directory.root / "seeded.json"
    facts = ground.directory.read(seeded) or {"demo": demo}
    commands = [["migrate", "--no-input"], ["collectstatic", "--no-input"]]
    if not seeded.exists():
        commands.append(["seed_demo" if demo else "seed_admin"])
    run_commands(ground, [*commands, *(_enrolments(ground) if facts["demo"] else [])])
    keys.write_private(seeded, json.dumps(facts))


def nodes(directory: datadir.DataDir) -> list[str]:
    """Return the names of the nodes whose agents run on this machine: those whose keys are here."""
    return sorted(path.parent.name for path in directory.agents.glob("*/key.json"))


def run_commands(ground: services.Ground, commands: Sequence[Sequence[str]]) -> None:
    """
    Run Django commands one after another, in one process.

    Raises:
        StackError: one failed; the message has its last lines.
    """
    log = ground.directory.log("commands")
    argv = services.python("-m", "xceweb.stack.commands", json.dumps(commands))
    process = children.spawn(argv, log=log, account=ground.account, env=ground.env)
    try:
        code = process.wait(DEADLINE_S)
    except subprocess.TimeoutExpired:
        raise errors.StackError(
            f"migrations and first rows took more than {DEADLINE_S} s (see {log})"
        ) from None
    finally:
        children.stop(process, with_signal=signal.SIGTERM, grace_s=5)
    if code:
        raise errors.StackError(f"{children.tail(log, lines=2)} (more in {log})")


def _enrolments(ground: services.Ground) -> list[list[str]]:
    commands = []
    for node in DEMO_NODES:
        key_file = ground.directory.agents / node / "key.json"
        if not key_file.exists():
            key_file.parent.mkdir(mode=0o700, exist_ok=True)
            accounts.give(key_file.parent, ground.account)
            commands.append(["agent_enroll", node, "--key-file", str(key_file)])
    return commands
