"""What stops the stack from running: one root, one clear line each."""

import sys
from collections.abc import Callable


class StackError(Exception):
    """The stack cannot start; the message is one line that says what to do."""


def run(main: Callable[[], int | None]) -> None:
    """
    Run a command and exit; what it cannot do becomes one line and exit code 1.

    A refusal of the operating system (no room, no right) is reported with the path that it is about.
    """
    try:
        sys.exit(main())
    except (StackError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
