"""The query language narrows, and tells nothing that a page hides."""

from __future__ import annotations

import pytest

from scheduler import errors, models
from scheduler.selectors import permissions, session_query
from tests import worlds

pytestmark = pytest.mark.django_db


@pytest.fixture
def world():
    return worlds.a_world()


def found(world, text, who="owner"):
    viewer = world.people[who]
    rows = session_query.narrow(permissions.visible_sessions(viewer), viewer, text)
    return sorted(rows.values_list("name", flat=True))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", ["high-work", "late-work", "low-work"]),
        ("state:pending", ["late-work"]),
        ("state:pending,running", ["high-work", "late-work"]),
        ("state:alive", ["high-work", "late-work", "low-work"]),
        ("state:over", []),
        ("queue:normal group:gpu", ["high-work", "late-work", "low-work"]),
        ("queue:urgent", []),
        ("user:me", ["high-work", "late-work", "low-work"]),
        ("user:nobody", []),
        ("work", ["high-work", "late-work", "low-work"]),
        ("'high-work'", ["high-work"]),
        ("late state:pending", ["late-work"]),
        ("reason:no-resources", ["late-work"]),
        ("type:batch", ["high-work", "late-work", "low-work"]),
        ("job_priority>=20", ["high-work"]),
        ("priority<5", []),
        ("age<1d", ["high-work", "late-work", "low-work"]),
        ("age>52w", []),
        ("unknown=1", []),
    ],
)
def test_a_query_finds_what_it_says(world, text, names):
    assert found(world, text) == names


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("colour:red", "knows no field 'colour'; there are: age, "),
        ("state:asleep", "state 'asleep' is none of pending, "),
        ("state:", "state needs a value"),
        ("age:1h", "age is compared as in age>1h"),
        ("age>soon", "lengths are 90s, 15m"),
        ("priority>high", "priority is compared with a whole number"),
        ("queue>normal", "queue is compared with ':' alone"),
        ("reason:nothing", "is none of"),
        ("type:robot", "is none of"),
        ("'open", "a quotation is not closed"),
        ("a " * 31, "has 31 words; at most 30"),
        ("a\0b", "may hold no NUL character"),
    ],
)
def test_a_word_that_cannot_be_read_says_what_would_be_right(world, text, message):
    with pytest.raises(errors.Refusal) as refused:
        found(world, text)

    assert message in refused.value.fields["q"]


@pytest.mark.parametrize(
    "text", ["late-work", "user:olivia", "job_priority>0", "priority>=0", "reason:no-resources"]
)
def test_a_search_tells_nothing_that_a_summary_hides(world, text):
    assert found(world, text, who="viewer") == []
    assert found(world, text, who="operator") != []


def test_an_id_is_found_by_whoever_may_see_it(world):
    assert found(world, str(world.waiting.public_id), who="viewer") == ["late-work"]
    models.Session.objects.filter(pk=world.waiting.pk).update(is_private=True)
    assert found(world, str(world.waiting.public_id), who="viewer") == []


def test_where_a_session_runs_is_asked_of_its_allocations(world):
    assert found(world, "node:gpu-1") == ["high-work", "low-work"]
    assert found(world, "node:gpu-1", who="viewer") == []
