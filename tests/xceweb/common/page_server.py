"""Serves the sample pages on a free loopback port: ``python -m tests.xceweb.common.page_server [port]``."""

from __future__ import annotations

import contextlib
import os
import socketserver
import sys
from wsgiref import simple_server


class Server(socketserver.ThreadingMixIn, simple_server.WSGIServer):
    """One thread per request; a browser asks for many files at once."""

    daemon_threads = True


class Quiet(simple_server.WSGIRequestHandler):
    """Says nothing per request."""

    def log_message(self, *_: object) -> None:
        """Keep silent."""


def main() -> None:
    """Serve until the parent closes our standard input or the process is ended."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.xceweb.common.page_settings"
    from django.contrib.staticfiles import handlers
    from django.core import wsgi

    application = handlers.StaticFilesHandler(wsgi.get_wsgi_application())
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    with simple_server.make_server("127.0.0.1", port, application, Server, Quiet) as server:
        print(f"http://127.0.0.1:{server.server_port}", flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            server.serve_forever()


if __name__ == "__main__":
    main()
