"""The one clock is the database's."""

from __future__ import annotations

import ast
import concurrent.futures
import datetime

from django.db import connection

from scheduler import clock
from tests.architecture import sources

SECOND = datetime.timedelta(seconds=1)


def test_now_is_the_databases_time_of_the_statement_and_aware(db):
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        before = cursor.fetchone()[0]

    moment = clock.now()

    assert datetime.timedelta(0) <= moment - before < 60 * SECOND
    assert moment.utcoffset() == datetime.timedelta(0)


def test_now_goes_on_within_a_transaction(db):
    first = clock.now()

    assert clock.now() > first


def test_virtual_time_stands_still_in_its_own_context_alone(db):
    time = clock.Virtual(datetime.datetime(2100, 1, 1, tzinfo=datetime.UTC))
    with clock.virtual(time):
        first = clock.now()
        time.advance(90)
        assert (clock.is_virtual(), clock.now() - first) == (True, 90 * SECOND)
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            assert pool.submit(clock.is_virtual).result() is False

    assert not clock.is_virtual()
    assert clock.now().year < 2100


def test_micros_are_exact_both_ways():
    moment = datetime.datetime(2100, 1, 2, 3, 4, 5, 678_901, tzinfo=datetime.UTC)

    assert clock.from_micros(clock.micros(moment)) == moment
    assert clock.micros(clock.from_micros(-1)) == -1
    assert clock.micros_or_none(None) is None
    assert clock.micros_or_none(moment) == clock.micros(moment)


def test_no_service_or_selector_reads_another_clock():
    """Web and workers may be wrong by any amount (P17): what decides is the database's time."""
    packages = ("scheduler/services", "scheduler/selectors", "scheduler/models")
    readers = {"timezone.now", "datetime.now", "datetime.datetime.now", "datetime.utcnow", "time.time"}
    found = [
        f"{sources.name(path)}:{node.lineno}"
        for path in sources.modules(*packages)
        for node in ast.walk(sources.parse(path))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in readers
    ]

    assert found == []
