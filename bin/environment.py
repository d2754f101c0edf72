"""
The project's own Python environment, `.venv`: made when missing, updated when a requirements file changed.

Standard library only. The environment remembers a digest of what was installed into it. XCE_VENV names
another place, for a project directory that cannot be written.
"""

import fcntl
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys

PROJECT = pathlib.Path(__file__).resolve().parent.parent
RUNTIME = "requirements.txt"
DEVELOPMENT = "requirements-dev.txt"


class CannotPrepare(Exception):
    """The environment cannot be made; the message is one line that says what to do."""


def run(module, arguments, *, requirements=RUNTIME, directory=None):
    """
    Prepare the environment, then become `python -m module arguments` in it; does not return.

    Args:
        module: a module of the project.
        arguments: its arguments.
        requirements: name of the file that must be installed.
        directory: working directory; None keeps the caller's.
    """
    try:
        python = prepare(requirements)
    except (CannotPrepare, OSError) as error:
        sys.exit(f"error: {error}")
    if directory is not None:
        os.chdir(directory)
    os.environ["PYTHONPATH"] = str(PROJECT)
    os.execv(python, [str(python), "-P", "-m", module, *arguments])


def prepare(requirements):
    """
    Return the interpreter of an environment in which a requirements file is installed.

    Raises:
        CannotPrepare: venv or pip failed.
    """
    place = pathlib.Path(os.environ.get("XCE_VENV", PROJECT / ".venv")).absolute()
    place.mkdir(parents=True, exist_ok=True)
    lock = os.open(place.parent, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        _make(place)
        if _installed(place).get(requirements) != digest(requirements):
            _install(place, requirements)
    finally:
        os.close(lock)
    return place / "bin" / "python"


def digest(requirements):
    """Return the digest of a requirements file and of those that it includes."""
    text = (PROJECT / requirements).read_bytes()
    included = [line.split()[1] for line in text.decode().splitlines() if line.startswith("-r ")]
    return hashlib.sha256(text + "".join(digest(name) for name in included).encode()).hexdigest()


def _make(place):
    version = list(sys.version_info[:3])
    if _installed(place).get("python") == version and (place / "bin" / "python").exists():
        return
    if any(place.iterdir()) and not (place / "installed.json").exists():
        raise CannotPrepare(
            f"{place} was made by something else; move it away or set XCE_VENV to another place"
        )
    _empty(place)
    _remember(place, {})
    print(f"making the Python environment in {place}", flush=True)
    done = _call([sys.executable, "-m", "venv", str(place)], place)
    if done:
        raise CannotPrepare(f"Python's venv failed ({done}); on Debian: apt-get install python3-venv")
    _remember(place, {"python": version})


def _empty(place):
    for path in place.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def _install(place, requirements):
    print(f"installing {requirements} (log: {place / 'pip.log'})", flush=True)
    pip = [str(place / "bin" / "python"), "-m", "pip", "install", "--disable-pip-version-check"]
    done = _call([*pip, "-r", str(PROJECT / requirements)], place)
    if done:
        raise CannotPrepare(f"pip could not install {requirements}: {done} (log: {place / 'pip.log'})")
    names = {RUNTIME, requirements}
    _remember(place, {**_installed(place), **{name: digest(name) for name in names}})


def _call(argv, place):
    """Run a program into pip.log; returns its last line when it failed, else an empty text."""
    previous = os.umask(0o022)
    try:
        with open(place / "pip.log", "a+") as log:
            begin = log.tell()
            code = subprocess.call(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
            log.seek(begin)
            lines = log.read().strip().splitlines()
    finally:
        os.umask(previous)
    errors = [line for line in lines if line.startswith("ERROR")] or lines or ["no message"]
    return errors[-1] if code else ""


def _installed(place):
    try:
        return json.loads((place / "installed.json").read_text())
    except (OSError, ValueError):
        return {}


def _remember(place, facts):
    (place / "installed.json").write_text(json.dumps(facts))
