"""How states, results, switches and events look."""

import itertools
import re

import pytest
from django.conf import settings

from scheduler.core import entities, states
from xceweb.common import marks

SPRITE = (settings.BASE_DIR / "templates/common/_sprite.html").read_text()
SYMBOLS = set(re.findall(r'<symbol id="i-([^"]+)"', SPRITE))
STYLES = "".join(path.read_text() for path in (settings.BASE_DIR / "static/css").glob("*.css"))
LIGHT_AND_DARK = set(re.findall(r"(--[a-z-]+:)\s*light-dark\(", STYLES))
LIVING = [state for state in states.SessionState if state is not states.SessionState.TERMINATED]


def _session_marks():
    alive = [marks.session(state) for state in LIVING]
    return alive + [marks.session("terminated", result) for result in states.Result]


def test_every_state_and_result_has_its_own_look():
    found = _session_marks()

    assert len(found) == len({mark.key for mark in found}) == len({mark.icon for mark in found})
    assert "unknown" not in {mark.key for mark in found}


def test_every_look_has_its_style():
    assert [
        mark.key for mark in _session_marks() if f'"{mark.key}"' not in STYLES and "ended-" not in mark.key
    ] == []


@pytest.mark.parametrize(
    ("what", "values"),
    [("node", entities.NodeState), ("queue", entities.QueueState), ("lamp", entities.PreemptionState)],
)
def test_other_states_are_known_too(what, values):
    assert "unknown" not in {marks.of(what, value).key for value in values}


@pytest.mark.parametrize("kind", ["pending", "scheduled", "running", "preempted", "suspended"])
def test_every_span_of_a_chart_has_its_colour_in_both_themes(kind):
    """A span without a rule would be drawn black."""
    tokens = re.findall(rf"\.span-{kind} {{ fill: (?:var\((--[a-z-]+)\)|url)", STYLES)

    assert len(tokens) == 2
    assert all(f"{token}:" in LIGHT_AND_DARK for token in tokens if token)


def test_every_symbol_is_in_the_sprite():
    others = itertools.chain.from_iterable(table.values() for table in marks._TABLES.values())
    used = {mark.icon for mark in [*_session_marks(), *others]} | {
        icon for icon, _ in marks.EVENT_ICONS.values()
    }

    assert set() == used - SYMBOLS


def test_an_unknown_state_is_shown_by_its_name():
    assert marks.Mark("unknown", "info", "Half asleep") == marks.session("half_asleep")


@pytest.mark.parametrize("kind", ["session.preempted", "preempted"])
def test_an_event_is_known_by_its_last_word(kind):
    assert marks.event(kind) == ("s-preempted", "i-preempted")


def test_an_unknown_event_gets_a_plain_sign():
    assert marks.event("session.sang") == ("info", "ink-3")
