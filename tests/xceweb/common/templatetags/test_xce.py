"""Tags and filters: values in, markup out."""

import datetime

import pytest
from django import template
from django.utils import timezone

from xceweb.common.templatetags import xce

AT = datetime.datetime(2030, 1, 2, 14, 2, 7, 118_000, tzinfo=datetime.UTC)


def _render(source, **context):
    return template.Template("{% load xce %}" + source).render(template.Context(context)).strip()


@pytest.mark.parametrize(
    ("show", "expected"),
    [
        ("clock", "14:02"),
        ("time", "14:02:07"),
        ("precise", "14:02:07.118"),
        ("date", "2 Jan 14:02"),
        ("day", "2 Jan"),
        ("moment", "2 Jan 14:02"),
    ],
)
def test_a_time_is_shown_short_and_titled_in_full(show, expected):
    markup = _render("{% when at show %}", at=AT, show=show)

    assert f">{expected}</time>" in markup
    assert 'datetime="2030-01-02T14:02:07.118000+00:00"' in markup
    assert "Wed 02 Jan 2030 14:02:07 UTC" in markup


def test_today_needs_no_date():
    now = timezone.now()

    assert f">{now:%H:%M:%S}</time>" in _render("{% when at %}", at=now)


def test_microseconds_since_the_epoch_are_a_time_too():
    assert _render("{% when at 'time' %}", at=AT) == _render("{% when at 'time' %}", at=1_893_592_927_118_000)


def test_no_time_is_a_dash():
    assert _render("{% when at %}", at=None) == xce.NOTHING


def test_emphasis_escapes_before_it_makes_bold():
    markup = _render("{{ text|emphasis }}", text="**<script>** of **4** & more")

    assert markup == "<b>&lt;script&gt;</b> of <b>4</b> &amp; more"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("{{ value|duration }}", "9 min 30 s"),
        ("{{ micros|duration_us }}", "0.24 s"),
        ("{{ cores|amount:'cpu' }}", "0.5"),
        ("{{ cores|quantity:'cpu' }}", "0.5 cores"),
        ("{{ slots|slots }}", "2 GPUs, 0.5 cores"),
        ("{{ count|thousands }}", "48,211"),
        ("{{ 'cpu'|unit }}{{ 'mem'|unit }}", "cores"),
        ("{{ none|duration }}{{ none|amount:'cpu' }}{{ none|thousands }}", 3 * xce.NOTHING),
    ],
)
def test_filters_write_what_people_read(source, expected):
    values = {"value": 570, "micros": 238_000, "cores": 500, "slots": {"cpu": 500, "cuda.device": 2}}

    assert expected == _render(source, **values, count=48_211, none=None)


def test_a_chip_has_key_symbol_and_word():
    markup = _render("{% state_chip 'terminated' 'preempted' %}")

    assert 'data-state="ended-preempted"' in markup
    assert 'href="#i-s-endpreempted"' in markup
    assert markup.endswith("Preempted</span>")


def test_a_label_replaces_the_word_and_is_escaped():
    assert "Pending, attempt &lt;2&gt;</span>" in _render(
        "{% state_chip 'pending' '' label %}", label="Pending, attempt <2>"
    )


def test_widths_are_attributes_and_never_styles():
    markup = _render("{% capacity_bar parts 'cpu' %}", parts={"allocated": 1, "free": 3})

    assert 'x="0.12%"' in markup
    assert "style" not in markup


def test_dots_are_countable_up_to_forty():
    markup = _render("{% dots 3 0 50 %}")

    assert markup.count("<rect") == 40
    assert 'aria-label="3 would stop, 0 could, 50 protected"' in markup
    assert "and 13 more" in markup


def test_an_estimate_keeps_its_order_on_the_axis():
    hour = datetime.timedelta(hours=1)
    estimate = {"now": AT, "from_at": AT + hour, "best_at": AT + 2 * hour, "to_at": AT + 4 * hour}
    drawn = xce.estimate_chart({**estimate, "label": "soon"})
    places = [float(drawn[name].removesuffix("%")) for name in ("now_x", "from_x", "best_x", "to_x")]

    assert sorted(places) == places


def test_a_handover_is_drawn_in_proportion_with_every_part_visible():
    spans = [{"kind": "pending", "us": 1, "text": "a"}, {"kind": "preempted", "us": 999_999, "text": "b"}]
    pieces = xce.handover(spans, "label")["pieces"]

    assert [piece["is_wide"] for piece in pieces] == [False, True]
    assert float(pieces[0]["rect"].width.removesuffix("%")) > 1


def test_attempts_are_one_row_each():
    hour = datetime.timedelta(hours=1)
    span = {"kind": "running", "start": AT, "end": AT + hour}
    history = {"start": AT, "end": AT + 4 * hour, "now": AT + 2 * hour, "label": "two attempts"}
    drawn = xce.attempts_chart({**history, "attempts": [{"number": n, "spans": [span]} for n in (1, 2)]})

    assert [row["y"] for row in drawn["rows"]] == [20, 50]
    assert drawn["now_x"] == "50%"
