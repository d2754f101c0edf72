"""What stops the stack from running: one root, one clear line each."""


class StackError(Exception):
    """The stack cannot start; the message is one line that says what to do."""
