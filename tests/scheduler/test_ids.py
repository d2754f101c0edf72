"""Public ids: UUID version 7."""

from __future__ import annotations

import time
import uuid

from scheduler import ids


def test_an_id_is_a_uuid_of_version_7():
    one = ids.new_id()

    assert one.version == 7
    assert one.variant == uuid.RFC_4122


def test_an_id_carries_its_milliseconds():
    before = time.time_ns() // 1_000_000
    one = ids.new_id()
    after = time.time_ns() // 1_000_000

    assert before <= one.int >> 80 <= after


def test_ids_do_not_repeat():
    assert len({ids.new_id() for _ in range(10_000)}) == 10_000
