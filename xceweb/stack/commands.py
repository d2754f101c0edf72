"""
Runs several Django commands in one process: `python -m xceweb.stack.commands '[["migrate"], ...]'`.

The one module of the stack that loads Django; loading it once instead of once a command saves most of the
time of a start.
"""

import json
import sys
import traceback
from collections.abc import Sequence

import django
from django.core import management


def main(commands: Sequence[Sequence[str]]) -> None:
    """Run the commands in order; the first that fails ends the process with its name."""
    django.setup()
    for name, *arguments in commands:
        print(f"== {name}", flush=True)
        try:
            management.call_command(name, *arguments)
        except Exception as error:
            traceback.print_exc()
            raise SystemExit(f"{name} failed: {type(error).__name__}: {error}") from error


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
