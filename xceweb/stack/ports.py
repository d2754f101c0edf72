"""Loopback ports: a free one, and whether a given one can be had."""

import socket

LOOPBACK = "127.0.0.1"


def free_port() -> int:
    """
    Return a loopback port that was free a moment ago.

    Returns:
        A port number. Another process may take it before the caller does; starters try again then.
    """
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])


def is_free(port: int) -> bool:
    """Say whether a server could listen on this loopback port now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


def accepts(port: int) -> bool:
    """Say whether something answers on this loopback port."""
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex((LOOPBACK, port)) == 0
