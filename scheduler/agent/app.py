"""
The agent's Celery app, without Django: commands come in over `node.<name>`, reports leave for `controller`.

A message is one signed text; Celery carries it and decides nothing. The consumer thread only hands texts
over, the publisher thread only sends; neither ever starts a process or waits for the loop. A broker that is
away stops neither.
"""

from __future__ import annotations

import collections
import contextlib
import logging
import threading
from collections.abc import Callable
from typing import Any

import celery
import kombu
import kombu.exceptions
from celery import bootsteps
from celery.app import amqp
from celery.worker import WorkController, state

from scheduler import points

log = logging.getLogger(__name__)

COMMAND_TASK, REPORT_TASK, REPORT_QUEUE = "xce.command", "xce.report", "controller"
_PAUSES_S = (0.2, 0.5, 1, 2, 5)
_TRANSPORT = {"socket_connect_timeout": 3, "socket_timeout": 10, "socket_keepalive": True, "max_retries": 1}
_JOIN_S = 5


class Link(kombu.Connection):
    """A connection that looks for a broker that is away every few seconds; Celery's waits up to half a minute."""

    def ensure_connection(self, *args: Any, **more: Any) -> Any:
        """Connect, with pauses between the tries of at most the publisher's longest."""
        more["interval_max"] = min(more.get("interval_max", _PAUSES_S[-1]), _PAUSES_S[-1])
        return super().ensure_connection(*args, **more)


class _Amqp(amqp.AMQP):
    Connection = BrokerConnection = Link


def make_app(broker: str) -> celery.Celery:
    """Return an app that speaks JSON only, keeps no results and retries no publish on its own."""
    app = celery.Celery("xce-agent", broker=broker, set_as_current=False, amqp=_Amqp)
    app.conf.update(
        task_serializer="json",
        accept_content=["json"],
        result_backend=None,
        task_ignore_result=True,
        task_publish_retry=False,
        worker_prefetch_multiplier=1,
        worker_enable_remote_control=False,
        worker_hijack_root_logger=False,
        worker_cancel_long_running_tasks_on_connection_loss=False,
        broker_connection_retry=True,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        broker_connection_timeout=3,
        broker_transport_options=_TRANSPORT | ({"confirm_publish": True} if _is_rabbitmq(broker) else {}),
        broker_heartbeat=10,
        enable_utc=True,
    )
    return app


def report_address(broker: str) -> dict[str, Any]:
    """
    Return how a report is addressed.

    With RabbitMQ it goes to the exchange that the controller has declared, and nothing is declared here: so a node's
    account needs no right over the controller's queue. Redis knows no such rights, and its queues need nobody.
    """
    if not _is_rabbitmq(broker):
        return {"queue": REPORT_QUEUE}
    exchange = kombu.Exchange(REPORT_QUEUE)
    queue = kombu.Queue(REPORT_QUEUE, exchange, routing_key=REPORT_QUEUE, no_declare=True)
    return {"queue": queue, "exchange": REPORT_QUEUE, "routing_key": REPORT_QUEUE}


def _is_rabbitmq(broker: str) -> bool:
    return broker.startswith(("amqp", "pyamqp"))


class Transport:
    """
    Two threads around one app.

    Args:
        broker: URL of RabbitMQ or Redis.
        node: name of the node; names its queue.
        on_command: called in the consumer thread with each text.
        on_connected: called in the consumer thread after each (re)connection.
    """

    def __init__(
        self,
        broker: str,
        node: str,
        *,
        on_command: Callable[[str], None],
        on_connected: Callable[[], None],
    ) -> None:
        self._app = make_app(broker)
        self._queue = f"node.{node}"
        self._app.conf.task_queues = [
            kombu.Queue(self._queue, kombu.Exchange(self._queue), routing_key=self._queue)
        ]
        self._address = report_address(broker)
        self._on_connected = on_connected
        self._texts: collections.deque[tuple[str, int | None]] = collections.deque()
        self._wake = threading.Event()
        self._is_stopping = False
        self._link: kombu.Connection | None = None
        self._add_command_task(on_command)
        self._app.steps["consumer"].add(_connected_step(on_connected))
        self._consumer = threading.Thread(target=self._consume, name="consumer", daemon=True)
        self._publisher = threading.Thread(target=self._publish, name="publisher", daemon=True)

    def start(self) -> None:
        """Start both threads; returns at once, whether or not the broker answers."""
        self._consumer.start()
        self._publisher.start()

    def send(self, text: str, *, expires_s: int | None = None) -> None:
        """
        Send a report soon; it is dropped when the broker is away (what matters is sent again by the outbox).

        Args:
            expires_s: seconds after which the controller passes it over; None = never.
        """
        self._texts.append((text, expires_s))
        self._wake.set()

    def stop(self) -> None:
        """Send what is left, end both threads and close the connections."""
        self._is_stopping = True
        self._wake.set()
        self._publisher.join(_JOIN_S)
        state.should_stop = 0
        self._consumer.join(_JOIN_S)
        self._app.close()

    def _add_command_task(self, on_command: Callable[[str], None]) -> None:
        @self._app.task(name=COMMAND_TASK, ignore_result=True, typing=False)
        def command(*args: Any, **_: Any) -> None:
            if args and isinstance(args[0], str):
                on_command(args[0])

    def _consume(self) -> None:
        worker = WorkController(
            app=self._app,
            pool="solo",
            concurrency=1,
            queues=[self._queue],
            hostname=f"agent@{self._queue}",
            without_gossip=True,
            without_mingle=True,
            without_heartbeat=True,
            loglevel="WARNING",
        )
        worker.start()

    def _publish(self) -> None:
        failures = 0
        while self._texts or not self._is_stopping:
            self._wake.wait()
            self._wake.clear()
            has_sent = self._send_waiting(failures)
            if has_sent and failures and not self._is_stopping:
                self._on_connected()  # what was dropped may have been the greeting
            failures = 0 if has_sent else failures + 1
        self._hang_up()

    def _send_waiting(self, failures: int) -> bool:
        """Send all that waits. On a failure drop it, say so once, and pause before the next try."""
        while self._texts:
            text, expires_s = self._texts.popleft()
            try:
                self._send_one(text, expires_s)
            except self._faults as fault:
                self._texts.clear()
                self._hang_up()
                if not failures:
                    log.warning("the broker does not take reports: %s; sessions go on, reports wait", fault)
                if not self._is_stopping:
                    threading.Event().wait(_PAUSES_S[min(failures, len(_PAUSES_S) - 1)])
                return False
        return True

    def _send_one(self, text: str, expires_s: int | None) -> None:
        if self._link is None:
            self._link = self._app.connection_for_write()
        self._app.send_task(
            REPORT_TASK,
            args=[text],
            retry=False,
            expires=expires_s,
            connection=self._link,
            **self._address,
        )
        points.reach("agent.sent")

    def _hang_up(self) -> None:
        """Give the connection up: after an error RabbitMQ takes nothing more over it."""
        if self._link is not None:
            with contextlib.suppress(*self._faults):
                self._link.release()
        self._link = None

    @property
    def _faults(self) -> tuple[type[Exception], ...]:
        """Whatever the client of a broker raises when it is away, or refuses."""
        client = self._app.connection()
        library = (*client.recoverable_connection_errors, *client.channel_errors)
        return (*library, OSError, kombu.exceptions.KombuError)


def _connected_step(on_connected: Callable[[], None]) -> type[bootsteps.StartStopStep]:
    """Return a consumer step that runs at the end of each connection's start-up."""

    class Connected(bootsteps.StartStopStep):  # type: ignore[misc]
        """Tells the loop that the queue is being read (again)."""

        requires = ("celery.worker.consumer.tasks:Tasks",)

        def start(self, parent: Any) -> None:
            on_connected()

    return Connected
