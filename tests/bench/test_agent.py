"""One real session is measured from its start to its end."""

import ctypes

from bench import agent


def test_every_step_of_one_session_has_its_row():
    try:
        text = agent.report(runs=1)
    finally:
        ctypes.CDLL(None).prctl(agent._SUBREAPER, 0, 0, 0, 0)
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if "|" in line]

    assert [row[0] for row in rows[2:]] == [*agent.STEPS.values(), "**one start**", "**one end**", "**both**"]
    assert all(float(row[1].replace(",", "")) > 0 for row in rows[2:])
    assert float(rows[4][2]) > 0
    assert "Goal: below 15 ms" in text
