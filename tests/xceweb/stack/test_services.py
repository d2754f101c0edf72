import http.server
import os
import threading

import pytest

from xceweb.stack import datadir, keys, ports, services, valkey


@pytest.fixture
def ground(tmp_path):
    env = {"BROKER_URL": "redis://:broker-word@127.0.0.1:1/1", "SECRET_KEY": "secret-word", "PATH": "/bin"}
    return services.Ground(datadir.DataDir(tmp_path), None, env)


def test_the_web_server_listens_on_the_loopback_alone(ground):
    argv = services.web(ground, port=8123).server.argv

    assert argv[argv.index("--host") + 1] == "127.0.0.1"
    assert argv[argv.index("--port") + 1] == "8123"


def test_an_agent_gets_no_secret_of_the_application(ground):
    program = services.agent(ground, node="gpu-1").server

    assert "SECRET_KEY" not in program.env
    assert "DATABASE_URL" not in program.env
    assert "secret-word" not in " ".join(program.argv)


def test_each_agent_has_a_state_and_a_log_of_its_own(ground):
    one, two = (services.agent(ground, node=node) for node in ("gpu-1", "gpu-2"))

    assert one.server.argv != two.server.argv
    assert one.server.log != two.server.log


def test_the_base_environment_passes_nothing_of_the_caller_but_its_path(ground, monkeypatch):
    monkeypatch.setenv("SOME_TOKEN", "token")

    assert services.base_environment(ground.directory).get("SOME_TOKEN") is None
    assert services.base_environment(ground.directory)["PATH"] == os.environ["PATH"]


@pytest.mark.parametrize(("status", "answer"), [(200, True), (503, False), (302, False)])
def test_only_a_200_counts_as_an_answer(status, answer):
    with Answering(status) as port:
        assert services.answers_ok(port, "/readyz") is answer


def test_a_closed_port_is_no_answer():
    assert services.answers_ok(ports.free_port(), "/readyz") is False


def test_a_broker_that_is_away_or_empty_is_no_answer_of_the_worker(open_dir, account):
    assert services.worker_answers(f"redis://127.0.0.1:{ports.free_port()}/1") is False
    server = valkey.start(open_dir, secrets=keys.generate(), account=account)
    try:
        assert services.worker_answers(f"{server.url}/1") is False
    finally:
        server.stop()


class Answering:
    """A web server that gives one status to every request."""

    def __init__(self, status: int) -> None:
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(status)
                self.end_headers()

            def log_message(self, *arguments: object) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer((ports.LOOPBACK, 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,))

    def __enter__(self) -> int:
        self.thread.start()
        return self.server.server_port

    def __exit__(self, *failure: object) -> None:
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()
