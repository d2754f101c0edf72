"""More reports out of the queue, over Celery's own messages."""

from __future__ import annotations

import datetime
import uuid

import celery
import pytest

from scheduler import clock
from scheduler.services import report_queue


@pytest.fixture
def app():
    one = celery.Celery(broker=f"memory://{uuid.uuid4().hex}", set_as_current=False)
    one.conf.task_ignore_result = True
    yield one
    report_queue.waiting(one, most=1000)
    one.close()


def send(app, text, name=report_queue.TASK, **more):
    app.send_task(name, args=[text], queue=report_queue.QUEUE, **more)


def test_what_waits_is_taken_oldest_first_up_to_a_number(app):
    for number in range(5):
        send(app, f"report {number}")

    assert report_queue.waiting(app, most=3) == ["report 0", "report 1", "report 2"]
    assert report_queue.waiting(app) == ["report 3", "report 4"]
    assert report_queue.waiting(app) == []


def test_a_report_that_is_too_late_is_passed_over(app):
    send(app, "late", expires=clock.now() - datetime.timedelta(seconds=1))
    send(app, "in time", expires=clock.now() + datetime.timedelta(seconds=60))

    assert report_queue.waiting(app) == ["in time"]


@pytest.mark.django_db
@pytest.mark.parametrize("strange", [{"name": "xce.prune"}, {"text": None}, {"text": 7}])
def test_what_is_no_report_is_left_out(app, strange):
    send(app, **{"text": "strange", **strange})
    send(app, "a report")

    assert report_queue.waiting(app) == ["a report"]


def test_a_broker_that_is_away_has_no_reports():
    app = celery.Celery(broker="redis://127.0.0.1:1/0", set_as_current=False)
    app.conf.broker_transport_options = {"max_retries": 0, "socket_connect_timeout": 1}

    assert report_queue.waiting(app) == []
