"""
P04: events reach their readers without loss, without doubles and in order, whatever breaks between.

Eight writers race and roll back, readers are cut off every few seconds, hints are lost with their store, the server is
stopped and killed. A naive reader beside them shows that there was something to lose.
"""

from __future__ import annotations

import os
import pathlib
from collections.abc import Callable, Iterator

import pytest

from scheduler import models
from tests import worlds
from tests.history import checkers
from tests.stream import course, server

SEED = int(os.environ.get("XCE_SEED", "1"))
COMMIT = course.Scale(events=5_000, readers=20, restarts=2, cut_s=3, flush_s=2)
NIGHT = course.Scale(events=100_000, readers=100, restarts=20, cut_s=3, flush_s=10, patience_s=300)


@pytest.fixture
def web(transactional_db: None, tmp_path: pathlib.Path) -> Iterator[server.Server]:
    """Return a running server on the test's database."""
    web = server.Server(tmp_path)
    web.start()
    yield web
    web.stop()


@pytest.mark.system
@pytest.mark.timeout(1_800)
@pytest.mark.parametrize(
    "scale", [pytest.param(COMMIT, id="commit"), pytest.param(NIGHT, id="night", marks=pytest.mark.night)]
)
def test_p04_each_reader_is_told_what_it_may_see_once_and_in_order(
    web: server.Server, scale: course.Scale, record_property: Callable[[str, object], None]
) -> None:
    """Of every person, over both carriers."""
    events = course.Course(worlds.a_world(), web, scale, SEED)

    events.play()

    permitted = events.permitted()
    faults = [
        f"{reader.person} over {type(reader).__name__}: {fault}"
        for reader in events.readers
        for fault in checkers.delivery(reader.got, permitted[reader.person])
    ]
    record_property("tries", scale.events)
    record_property("faults", sum(reader.cuts for reader in events.readers) + events.flushed + web.starts - 1)
    record_property("findings", len(faults))
    assert faults == [], f"seed {SEED}"
    assert web.complaints() == ""
    _assert_that_there_was_something_to_lose(events)


def _assert_that_there_was_something_to_lose(events: course.Course) -> None:
    numbers = models.Event.objects.count(), models.EventCounter.objects.get(id=1).last
    assert numbers[0] == numbers[1] >= events.scale.events
    assert events.rolled_back > 0
    assert events.flushed > 0
    assert sum(reader.cuts for reader in events.readers) > events.scale.readers
    assert checkers.delivery(events.naive.got, events.permitted()["administrator"])
