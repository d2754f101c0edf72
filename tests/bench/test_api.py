"""A program of the benchmark says what was refused; a small run at night."""

import http.server
import os
import subprocess
import sys
import threading

import pytest

from bench import api
from xceweb.stack import privileges

PROGRAM = """
from bench import api
print(api.report(sessions=8))
"""


class _Refusing(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(404)
        self.end_headers()
        self.wfile.write(b"not there")

    def log_message(self, *_):
        """Be quiet."""


def test_an_error_is_no_measured_answer():
    server = http.server.HTTPServer(("127.0.0.1", 0), _Refusing)
    threading.Thread(target=server.handle_request).start()

    with pytest.raises(RuntimeError, match="404: b'not there'"):
        api.Program(server.server_port, "A:b").ask("GET", "/sessions")
    server.server_close()


@pytest.mark.night
@pytest.mark.system
@pytest.mark.timeout(300)
def test_submissions_and_every_kind_of_explanation_have_their_row():
    env = {**os.environ, "PYTHONPATH": str(privileges.PROJECT)}
    answer = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=env, capture_output=True, text=True, check=False
    )
    assert answer.returncode == 0, answer.stderr
    rows = [
        [cell.strip() for cell in line.split("|")[1:-1]] for line in answer.stdout.splitlines() if "|" in line
    ]

    assert [row[1] for row in rows[2:]] == ["8", "", "100", "100", "100"]
    assert float(rows[3][2]) > 0
