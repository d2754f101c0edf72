"""The agent over RabbitMQ, where each node has an account for its own queue alone."""

import amqp.exceptions
import celery
import kombu
import pytest

from scheduler.agent import app, processes
from scheduler.protocol import messages
from tests.scheduler.agent import bench as benches
from tests.scheduler.agent import controller as ends
from tests.scheduler.agent import rabbit

pytestmark = [
    pytest.mark.skipif(not rabbit.is_installed(), reason=rabbit.WHY_NOT),
    pytest.mark.timeout(240),
]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    one = rabbit.Rabbit(tmp_path_factory.mktemp("rabbit"), "n1", "n2")
    one.up()
    yield one
    one.down()


@pytest.fixture
def controller(server):
    one = ends.Controller(server.url(rabbit.CONTROLLER))
    yield one
    one.close()


@pytest.fixture
def agent(server, tmp_path):
    one = ends.AgentProcess(tmp_path, server.url("n1"))
    one.up()
    yield one
    if one.process.poll() is None:
        one.down()


@pytest.fixture
def queues(server):
    """Declare the queues of the controller and of the second node, as the controller does by speaking."""
    sender = celery.Celery(broker=server.url(rabbit.CONTROLLER), set_as_current=False)
    for name in ("node.n2", "controller"):
        sender.send_task("nothing", args=[], queue=name, expires=1, ignore_result=True)
    sender.close()


def about(start, kind, **more):
    return kind(**{"command_id": benches.new_id(), "session": start.session, "epoch": 1} | more)


@pytest.fixture
def nobody(server):
    """Leave no trace of a controller."""
    with kombu.Connection(server.url(rabbit.CONTROLLER)) as connection:
        connection.channel().queue_delete("controller")
        connection.channel().exchange_delete("controller")


def test_a_session_lives_over_rabbitmq_with_an_agent_that_was_there_before_the_controller(
    nobody, agent, controller
):
    agent.until_it_says("does not take reports")
    controller.report(messages.Hello)
    start = benches.a_start()
    started = controller.ask(start, messages.Started)
    controller.ask(about(start, messages.StopCommand, action="suspend", mode="suspend"), messages.Stopped)
    state = processes.look(started.pid).state
    controller.ask(about(start, messages.ResumeCommand, epoch=2), messages.Resumed)
    kill = about(start, messages.KillCommand, cause="cancelled", grace_ms=0, epoch=2)
    ended = controller.ask(kill, messages.Ended)

    assert (state, ended.signal) == ("T", 9)
    assert agent.down() == 0


@pytest.mark.parametrize("queue", ["node.n2", "controller"])
def test_p08_the_account_of_a_node_reads_no_other_queue(server, queues, queue):
    with kombu.Connection(server.url("n1")) as connection, pytest.raises(amqp.exceptions.AccessRefused):
        connection.channel().basic_get(queue)


@pytest.mark.parametrize("exchange", ["node.n2", ""])
def test_p08_the_account_of_a_node_sends_nothing_to_another(server, queues, exchange):
    forger = app.make_app(server.url("n1"))
    with forger.connection() as connection, pytest.raises(amqp.exceptions.AccessRefused):
        connection.Producer().publish({}, exchange=exchange, routing_key="node.n2")
    forger.close()
