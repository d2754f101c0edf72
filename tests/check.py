"""
Runs every check that needs no server: `bin/check`. Two at a time; what fails shows its output.
"""

import concurrent.futures
import os
import pathlib
import subprocess
import sys
import time
from collections.abc import Sequence

from xceweb.stack import privileges

PYTHON = [sys.executable, "-P"]
TOOLS = pathlib.Path(sys.executable).parent
SOURCES = ["scheduler", "xceweb", "tests", "bench", "bin/environment.py", "manage.py"]
#: Nothing answers there: what these checks ask needs settings, not servers.
ENVIRONMENT = {
    "DJANGO_SETTINGS_MODULE": "xceweb.settings.test",
    "SECRET_KEY": "only for checks that serve nothing to anybody",
    "DATABASE_URL": "postgresql://nobody:nothing@127.0.0.1:9/none",
    "REDIS_URL": "redis://127.0.0.1:9/0",
    "PYTHONPATH": str(privileges.PROJECT),
}
#: The longest first, so that two workers end together.
CHECKS: dict[str, Sequence[str]] = {
    "types": [*PYTHON, "-m", "mypy"],
    "architecture": [*PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/architecture"],
    "templates": [str(TOOLS / "djlint"), "--lint", "--quiet", "templates"],
    "migrations": [*PYTHON, "-W", "ignore", "manage.py", "makemigrations", "--check", "--dry-run"],
    "django": [*PYTHON, "manage.py", "check"],
    "imports": [str(TOOLS / "lint-imports"), "--no-cache"],
    "lint": [*PYTHON, "-m", "ruff", "check", *SOURCES],
    "format": [*PYTHON, "-m", "ruff", "format", "--check", *SOURCES],
}


def main() -> int:
    """Run all checks; returns 1 when one failed."""
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as workers:
        failed = [name for name, code in workers.map(_run, CHECKS.items()) if code]
    print(f"failed: {', '.join(failed)}" if failed else "all checks passed")
    return 1 if failed else 0


def _run(check: tuple[str, Sequence[str]]) -> tuple[str, int]:
    name, argv = check
    begun_s = time.monotonic()
    done = subprocess.run(
        argv,
        cwd=privileges.PROJECT,
        env={**os.environ, **ENVIRONMENT},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    verdict = "FAILED" if done.returncode else "ok"
    output = done.stdout.rstrip() + "\n" if done.returncode else ""
    print(f"{name:<14} {verdict:<7} {time.monotonic() - begun_s:5.1f} s\n{output}", end="", flush=True)
    return name, done.returncode


if __name__ == "__main__":
    sys.exit(main())
