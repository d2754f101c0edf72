"""
The agent's directories: one per run of a session, and one for checkpoints that all its attempts on this node
share.

Here a start command becomes the specification that the shepherd reads: arguments, environment from scratch,
directory, processors, output limit.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import pathlib
import pwd
import re
import shutil
from collections.abc import Mapping

from scheduler.agent import accounts, fencing, marks, records
from scheduler.protocol import messages

_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
#: What a session tells the agent lies here; the file says that it checkpointed.
TOLD, CHECKPOINTED = "told", "checkpointed"


@dataclasses.dataclass(frozen=True)
class Terms:
    """
    On which terms a job runs.

    Attributes:
        cpus: processors that it is bound to; none = all.
        cgroup: directory of its control group, or empty.
        limits: see `limits.Limits.of`.
        account: whom it runs as; None = the agent's own account.
    """

    cpus: tuple[int, ...] = ()
    cgroup: str = ""
    limits: Mapping[str, int] = dataclasses.field(default_factory=dict)
    account: accounts.Account | None = None


class Workspace:
    """
    Paths below one state directory.

    They are made with mode 0700; for many accounts those above the sessions' own may be passed through, not read.
    """

    def __init__(self, state_dir: pathlib.Path, node: str, *, multi_user: bool = False) -> None:
        self.root = state_dir.resolve()
        self.node = node
        self._mode = 0o711 if multi_user else 0o700
        for path in (self.root, self.root / "sessions", self.root / "checkpoints"):
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.chmod(self._mode)

    def run_dir(self, session: str, epoch: int) -> pathlib.Path:
        """Return the directory of the run that was started with this epoch."""
        return self.root / "sessions" / f"{session}.{epoch}"

    def checkpoint_dir(self, session: str) -> pathlib.Path:
        """Return the directory that stays the same over all attempts of a session on this node."""
        return self.root / "checkpoints" / session

    def prepare(self, command: messages.StartCommand, terms: Terms) -> pathlib.Path:
        """
        Make the directory of a run and write what the shepherd needs. Repeating it changes nothing.

        Args:
            command: the start.
            terms: how it runs.

        Returns:
            The run's directory.

        Raises:
            OSError: the state directory or the working directory cannot be used; the text says which.
        """
        run = self.run_dir(command.session, command.epoch)
        run.mkdir(mode=0o700, exist_ok=True)
        run.chmod(self._mode)
        for path in (run / "work", run / "tmp", run / TOLD, self.checkpoint_dir(command.session)):
            path.mkdir(mode=0o700, exist_ok=True)
            accounts.give(path, terms.account)
        workdir = command.workdir or str(run / "work")
        if not os.path.isdir(workdir):
            raise NotADirectoryError(f"the working directory {workdir} does not exist on this node")
        env = {**_person(run, terms.account), **command.env, **self._facts(command, run)}
        spec: records.Record = {"argv": _argv(command, run, terms.account), "env": env, "workdir": workdir}
        spec |= {"output_limit": command.output_limit_bytes, **dataclasses.asdict(terms)}
        spec["mark"] = marks.of((command.session, command.epoch))
        spec["fence"] = fencing.of(
            self.root, after_ms=command.fence_ms, grace_ms=command.grace_ms, number=command.warn_signal
        )
        records.write(run / records.SPEC, spec, sync=False)
        return run

    def find_run(self, session: str, epoch: int) -> pathlib.Path | None:
        """Return the directory of the run that had this epoch: the last one started at or before it."""
        epochs = [e for s, e in self.runs() if s == session and e <= epoch]
        return self.run_dir(session, max(epochs)) if epochs else None

    def runs(self) -> list[tuple[str, int]]:
        """Return session and start epoch of every run with a directory."""
        names = (path.name.rpartition(".") for path in (self.root / "sessions").iterdir())
        return [(session, int(epoch)) for session, _, epoch in names if epoch.isdigit()]

    def remove(self, session: str, epoch: int) -> None:
        """Delete a run's directory with its output."""
        shutil.rmtree(self.run_dir(session, epoch), ignore_errors=True)

    def drop_checkpoints(self, session: str) -> None:
        """Delete the checkpoints of a session of which no run is kept."""
        shutil.rmtree(self.checkpoint_dir(session), ignore_errors=True)

    def _facts(self, command: messages.StartCommand, run: pathlib.Path) -> dict[str, str]:
        """Return the variables that a session may rely on and cannot override."""
        facts = {
            "XCE_SESSION_ID": command.session,
            "XCE_ATTEMPT": str(command.attempt),
            "XCE_EPOCH": str(command.epoch),
            "XCE_NODE": self.node,
            "XCE_NODES": ",".join(command.nodes or (self.node,)),
            "XCE_RANK": str(command.rank),
            "XCE_SIZE": str(len(command.nodes) or 1),
            "XCE_OUTPUT_DIR": str(run / "work"),
            "XCE_CHECKPOINT_DIR": str(self.checkpoint_dir(command.session)),
            "XCE_CHECKPOINTED_FILE": str(run / TOLD / CHECKPOINTED),
            "CUDA_VISIBLE_DEVICES": ",".join(map(str, command.indices.get("cuda.device", ()))),
        }
        return facts | {_variable(kind): ",".join(map(str, held)) for kind, held in command.indices.items()}


def _variable(kind: str) -> str:
    return "XCE_INDICES_" + re.sub(r"[^A-Z0-9]", "_", kind.upper())


def _person(run: pathlib.Path, account: accounts.Account | None) -> dict[str, str]:
    name, home = str(os.getuid()), ""
    if account is not None:
        name, home = account.name, account.home
    else:
        with contextlib.suppress(KeyError):
            entry = pwd.getpwuid(os.getuid())
            name, home = entry.pw_name, entry.pw_dir
    if not _is_home(home, account):
        home = str(run / "work")
    common = {"PATH": _PATH, "LANG": "C.UTF-8", "TMPDIR": str(run / "tmp"), "SHELL": "/bin/sh"}
    return {**common, "HOME": home, "USER": name, "LOGNAME": name}


def _is_home(home: str, account: accounts.Account | None) -> bool:
    if account is None:
        return os.access(home, os.W_OK | os.X_OK)
    with contextlib.suppress(OSError):
        return os.stat(home).st_uid == account.uid
    return False


def _argv(command: messages.StartCommand, run: pathlib.Path, account: accounts.Account | None) -> list[str]:
    """Return what to execute; a script runs by its own first line, or by /bin/sh."""
    if command.argv:
        return list(command.argv)
    script = run / "script"
    script.write_text(command.script)
    script.chmod(0o700)
    accounts.give(script, account)
    return [str(script)] if command.script.startswith("#!") else ["/bin/sh", str(script)]
