"""The event log by API."""

from __future__ import annotations


def test_events_after_a_number_are_told_once_and_in_order(api_of):
    api = api_of("owner")
    first = api.get("/events", after=0).json()

    rest = api.get("/events", after=first["last"]).json()

    numbers = [event["number"] for event in first["events"]]
    assert (first["prev"], numbers == sorted(numbers), len(numbers) >= 4) == (0, True, True)
    assert (rest["events"], rest["prev"], rest["last"]) == ([], first["last"], first["last"])
    assert api_of("outsider").get("/events").json()["events"] == []
