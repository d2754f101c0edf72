"""Texts as the database can hold them."""

from __future__ import annotations

from scheduler.protocol import messages
from scheduler.services import report_texts


def test_every_nul_is_replaced_however_deep():
    member = messages.Member(pid=1, start_time=2, state="\x00")
    report = messages.StopFailed(running=(member,), reason="a\x00b")

    clean = report_texts.storable(report)

    assert clean.reason == "a\ufffdb"
    assert clean.running[0].state == "\ufffd"


def test_facts_of_a_host_are_cleaned_too():
    report = messages.Hello(
        agent_version="1", protocol=1, boot="b", pid=1, host_facts={"na\x00me": "h\x00", "cores": 4}
    )

    assert report_texts.storable(report).host_facts == {"na\ufffdme": "h\ufffd", "cores": 4}
