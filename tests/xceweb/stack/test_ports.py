import socket

from xceweb.stack import ports


def test_a_free_port_can_be_listened_on():
    assert ports.is_free(ports.free_port())


def test_a_taken_port_is_not_free_and_answers():
    with socket.create_server((ports.LOOPBACK, 0)) as server:
        port = server.getsockname()[1]

        assert not ports.is_free(port)
        assert ports.accepts(port)


def test_nothing_answers_on_a_free_port():
    assert not ports.accepts(ports.free_port())
