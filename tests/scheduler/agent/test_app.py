"""The agent over a real broker, with a tiny controller at the other end."""

import datetime
import signal

import celery
import pytest

from scheduler.agent import app, processes
from scheduler.protocol import messages
from tests.scheduler.agent import bench as benches
from tests.scheduler.agent import controller as ends

COUNT = "i=0; while :; do i=$((i+1)); echo $i; sleep 0.02; done"


def about(start, kind, **more):
    return kind(**{"command_id": benches.new_id(), "session": start.session, "epoch": 1} | more)


def a_kill(start, epoch=1):
    return about(start, messages.KillCommand, cause="cancelled", grace_ms=0, epoch=epoch)


def test_commands_and_reports_are_json_and_no_result_is_kept():
    one = app.make_app("redis://127.0.0.1:1/0")

    assert one.conf.accept_content == ["json"]
    assert one.conf.task_serializer == "json"
    assert one.conf.result_backend is None
    assert not one.conf.worker_enable_remote_control


def test_a_report_that_expires_says_so_to_the_broker(monkeypatch):
    sent = []
    monkeypatch.setattr(
        celery.Celery, "send_task", lambda self, name, args, **more: sent.append((args, more["expires"]))
    )
    transport = app.Transport("memory://", "n1", on_command=lambda text: None, on_connected=lambda: None)
    transport.send("beat", expires_s=300)
    transport.send("ended")

    assert transport._send_waiting(0)
    assert sent == [(["beat"], 300), (["ended"], None)]


def test_a_session_lives_over_the_broker_from_start_to_end(agent, controller):
    hello = controller.report(messages.Hello)
    start = benches.a_start(script=COUNT)
    started = controller.ask(start, messages.Started)
    stop = about(start, messages.StopCommand, action="suspend", mode="suspend")
    stopped = controller.ask(stop, messages.Stopped)
    state = processes.look(started.pid).state
    controller.ask(about(start, messages.ResumeCommand, epoch=2), messages.Resumed)
    ended = controller.ask(a_kill(start, 2), messages.Ended)

    assert (hello.pid, hello.boot) == (agent.process.pid, processes.boot_id())
    assert started.pid in {member.pid for member in stopped.members}
    assert state == "T"
    assert ended.signal == signal.SIGKILL
    assert agent.down() == 0


def test_an_agent_whose_clock_is_an_hour_ahead_takes_commands_all_the_same(agent, controller):
    controller.report(messages.Hello)
    start, late = benches.a_start(), benches.a_start()
    wrong = datetime.timedelta(hours=1)
    lasting = datetime.timedelta(seconds=messages.PASSING_S)
    controller.tell(late, expires=datetime.datetime.now(datetime.UTC) - wrong)
    controller.tell(start, expires=datetime.datetime.now(datetime.UTC) - wrong + lasting)
    started = controller.report(messages.Started)

    assert started.command_id == start.command_id
    assert controller.ask(a_kill(start), messages.Ended).known


@pytest.mark.system
def test_P14_a_broker_that_went_away_and_came_back_empty_loses_nothing(agent, broker, controller):
    controller.report(messages.Hello)
    lasting, short = benches.a_start(script=COUNT), benches.a_start(script="sleep 1; exit 4")
    pids = [controller.ask(start, messages.Started).pid for start in (lasting, short)]
    broker.down()
    shepherd = processes.look(processes.look(pids[1]).parent).identity
    controller.until(lambda: not processes.is_alive(shepherd), "the short session ends meanwhile")
    greeted = len(controller.reports(messages.Hello))
    broker.up()
    ended = controller.report(messages.Ended, session=short.session)
    controller.until(lambda: len(controller.reports(messages.Hello)) > greeted, "the agent says hello again")

    assert ended.exit_code == 4
    assert processes.look(pids[0]).state in "SR"
    assert controller.ask(a_kill(lasting), messages.Ended).known


@pytest.mark.system
def test_P03_a_killed_agent_is_followed_by_one_that_adopts_its_sessions(agent, controller):
    controller.report(messages.Hello)
    start = benches.a_start(script=COUNT)
    pid = controller.ask(start, messages.Started).pid
    agent.down(signal.SIGKILL)
    greeted = len(controller.reports(messages.Hello))
    agent.up()
    controller.until(lambda: len(controller.reports(messages.Hello)) > greeted, "the next agent says hello")
    hello = controller.reports(messages.Hello)[-1]
    stop = about(start, messages.StopCommand, action="suspend", mode="suspend")
    stopped = controller.ask(stop, messages.Stopped)

    assert [(s.session, s.state) for s in hello.sessions] == [(start.session, "running")]
    assert pid in {member.pid for member in stopped.members}
    assert controller.ask(a_kill(start), messages.Ended).known


@pytest.mark.system
def test_an_agent_that_starts_before_its_broker_waits_for_it(broker, controller, tmp_path):
    broker.down()
    agent = ends.AgentProcess(tmp_path, broker.url)
    agent.up()
    agent.until_it_says("does not take reports")
    broker.up()
    controller.report(messages.Hello)

    assert agent.down() == 0


def test_an_agent_without_a_broker_ends_cleanly(tmp_path, broker):
    broker.down()
    agent = ends.AgentProcess(tmp_path, broker.url)
    agent.up()
    agent.until_it_says("does not take reports")

    assert agent.down() == 0


def test_over_rabbitmq_a_report_is_addressed_to_an_exchange_and_declares_nothing():
    rabbit, redis = (app.report_address(url) for url in ("amqp://broker//", "redis://broker/0"))

    assert redis == {"queue": "controller"}
    assert (rabbit["exchange"], rabbit["routing_key"]) == ("controller", "controller")
    assert rabbit["queue"].no_declare


def test_after_a_failure_the_agent_greets_again_since_its_greeting_may_be_lost(monkeypatch):
    greetings, answers = [], [OSError("away"), None]

    def send(self, name, **more):
        answer = answers.pop(0)
        if answer is not None:
            raise answer

    monkeypatch.setattr(celery.Celery, "send_task", send)
    monkeypatch.setattr(app, "_PAUSES_S", (0,))
    transport = app.Transport(
        "memory://", "n1", on_command=lambda text: None, on_connected=lambda: greetings.append(1)
    )
    transport._publisher.start()
    transport.send("lost")
    while answers[1:]:
        transport._publisher.join(0.01)
    transport.send("heard")
    while not greetings:
        transport._publisher.join(0.01)
    transport._is_stopping = True
    transport._wake.set()
    transport._publisher.join(10)

    assert greetings == [1]
