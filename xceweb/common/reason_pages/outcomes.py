"""What became of a preemption: title and help page of each outcome."""

from __future__ import annotations

from collections.abc import Mapping

from xceweb.common.reason_pages.page import Page

#: By the value of ``Outcome.Kind``.
TITLES: Mapping[str, str] = {
    "used": "Used",
    "partly": "Partly used",
    "wasted": "Wasted",
    "transferred": "Transferred",
    "withdrawn": "Withdrawn",
}
#: By the value of ``Outcome.Kind``.
PAGES: Mapping[str, Page] = {
    "used": Page(
        "The session for which room was made started on it.",
        "Nothing.",
        "Nothing. The history of decisions shows how long each hand-over took.",
    ),
    "partly": Page(
        "The session for which room was made started, and not every session had to stop for it.",
        "Nothing.",
        "Nothing: the others were left alone in time.",
    ),
    "wasted": Page(
        "Sessions were stopped, and nobody used their room. The cause stands beside it.",
        "Nothing. A session that was stopped returns by its mode.",
        "Read the cause: a node that was lost, a stop that took too long, a waiting session that went "
        "away. Frequent time-outs call for a longer in_flight_timeout or for a look at the agents.",
    ),
    "transferred": Page(
        "Another session has the room now. Either one further ahead in the order, that could have stopped the "
        "first one, took it over; or the first one needed it no more, and one that counted on it, and could have "
        "ordered the same stop itself, goes on with it (handed over).",
        "Nothing. The first session, if it still waits, goes on waiting in its place.",
        "Nothing: this is how two urgent sessions do not stop twice as many.",
    ),
    "withdrawn": Page(
        "The reason was gone before anything irreversible had happened; the sessions that were warned "
        "went on.",
        "Nothing. A warning signal that was sent is followed by the news that it no longer holds.",
        "Nothing. The time line says which reason was gone.",
    ),
}
