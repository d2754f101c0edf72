"""What must be true of database and files before the application starts; repeated at every start."""

import json
import signal

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
    run_command(ground, "migrate", "--no-input")
    run_command(ground, "collectstatic", "--no-input")
    seeded = ground.directory.root / "seeded.json"
    if ground.directory.read(seeded) is None:
        run_command(ground, "seed_demo" if demo else "seed_admin")
        keys.write_private(seeded, json.dumps({"demo": demo}))
    if ground.directory.read(seeded)["demo"]:
        _enroll(ground)


def nodes(directory: datadir.DataDir) -> list[str]:
    """Return the names of the nodes whose agents run on this machine: those whose keys are here."""
    return sorted(path.parent.name for path in directory.agents.glob("*/key.json"))


def run_command(ground: services.Ground, *arguments: str) -> None:
    """
    Run one Django command to its end.

    Raises:
        StackError: it failed; the message has its last lines.
    """
    log = ground.directory.log(f"manage-{arguments[0]}")
    argv = services.python(str(services.privileges.PROJECT / "manage.py"), *arguments)
    process = children.spawn(argv, log=log, account=ground.account, env=ground.env)
    try:
        code = process.wait(DEADLINE_S)
    finally:
        children.stop(process, with_signal=signal.SIGTERM, grace_s=5)
    if code:
        raise errors.StackError(f"{arguments[0]} failed: {children.tail(log, lines=2)} (more in {log})")


def _enroll(ground: services.Ground) -> None:
    for node in DEMO_NODES:
        key_file = ground.directory.agents / node / "key.json"
        if not key_file.exists():
            key_file.parent.mkdir(mode=0o700, exist_ok=True)
            accounts.give(key_file.parent, ground.account)
            run_command(ground, "agent_enroll", node, "--key-file", str(key_file))
