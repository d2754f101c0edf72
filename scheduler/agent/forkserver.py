"""
A small single-threaded process that forks shepherds: everything is loaded, so a start costs a fork.

It is started before anything with threads is imported, and again when it dies. Requests come over its stdin,
a socket: the directory of a session, with the pipe of the answer attached. When the agent goes, it goes;
shepherds stay.
"""

from __future__ import annotations

import gc
import os
import signal
import socket
import sys
import traceback

from scheduler.agent import launch, records, shepherd


def serve(requests: socket.socket) -> None:
    """
    Fork a shepherd for each request until the agent hangs up.

    Args:
        requests: a sequenced-packet socket; one packet = one directory, with one descriptor.
    """
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        packet, pipes, _, _ = socket.recv_fds(requests, 8192, 1)
        if not packet:
            return
        for pipe in pipes:
            _fork(packet.decode(), pipe)
            os.close(pipe)


def _fork(directory: str, pipe: int) -> None:
    spec = records.read(os.path.join(directory, records.SPEC))  # here, where everything is warm
    if os.fork():
        return
    try:
        shepherd.shepherd(directory, pipe, spec)
    except BaseException:  # noqa: BLE001 - whatever it is, the fork must not go on serving
        traceback.print_exc(file=sys.stderr)
    finally:
        os._exit(0)


def main() -> None:
    """Serve on stdin."""
    launch.prepare_forks()
    gc.disable()
    gc.freeze()  # what is loaded stays shared with the forks, which live without a collector
    serve(socket.socket(fileno=0))


if __name__ == "__main__":
    main()
