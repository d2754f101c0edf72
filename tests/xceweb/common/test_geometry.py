"""Where the parts of bars, strips and axes lie."""

import datetime
import itertools

import pytest

from xceweb.common import geometry

START = datetime.datetime(2030, 1, 2, 12, 0, tzinfo=datetime.UTC)
HOUR = datetime.timedelta(hours=1)


def _number(text):
    assert text.endswith("%")
    return float(text[:-1])


def _nodes(count, cells):
    return [{"name": f"n{i}", "cells": ["free"] * cells} for i in range(count)]


def test_a_bar_fills_its_width_without_overlap():
    pieces = geometry.bar({"free": 84, "allocated": 148, "reserved": 12, "drained": 0})

    assert [piece.kind for piece in pieces] == ["allocated", "reserved", "free"]
    ends = [(_number(piece.x), _number(piece.x) + _number(piece.width)) for piece in pieces]
    assert ends[0][0] >= 0
    assert ends[-1][1] <= 100
    assert all(left[1] < right[0] for left, right in itertools.pairwise(ends))


def test_a_tiny_part_stays_visible():
    pieces = geometry.bar({"allocated": 1, "free": 1_000_000})

    assert _number(pieces[0].width) > 0.3


def test_an_empty_bar_has_no_pieces():
    assert geometry.bar({"free": 0}) == []


def test_cells_of_a_strip_lie_inside_and_are_named_by_node():
    (row,) = geometry.strip_rows(_nodes(3, 4))

    assert len(row.cells) == 12
    assert [label.text for label in row.labels] == ["n0", "n1", "n2"]
    assert _number(row.cells[-1].x) + _number(row.cells[-1].width) <= 100


def test_many_devices_take_several_rows_of_one_cell_size():
    rows = geometry.strip_rows(_nodes(12, 8))

    assert [len(row.labels) for row in rows] == [5, 5, 2]
    assert len({cell.width for row in rows for cell in row.cells}) == 1


def test_no_nodes_give_no_rows():
    assert geometry.strip_rows([]) == []


@pytest.mark.parametrize(("hours", "expected"), [(-1, 0), (0, 0), (1, 25), (4, 100), (9, 100)])
def test_a_moment_is_clipped_to_the_axis(hours, expected):
    assert expected == geometry.place(START + hours * HOUR, START, START + 4 * HOUR)


def test_ticks_are_round_times_away_from_the_ends():
    axis = geometry.Axis(START + HOUR / 10, START + 5 * HOUR)

    assert [tick.at.hour for tick in axis.ticks()] == [13, 14, 15, 16]
    assert {0} == {tick.at.minute for tick in axis.ticks()}


def test_a_span_without_length_can_still_be_seen():
    piece = geometry.span("preempted", (START, START), geometry.Axis(START, START + HOUR))

    assert piece.width == "0.4%"


def test_a_line_goes_from_edge_to_edge():
    assert geometry.line([1, 0, 0.5]) == "M0.00,2.00 L50.00,56.00 L100.00,29.00"
