"""What the page of a stopped session says of the proof."""

from __future__ import annotations

import pytest

from xceweb.dashboard.contexts import why_preempted

PROOF = {"fewest": 3, "is_best": True, "sets_by_bound": 1200, "sets_by_search": 34}


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ({"is_fewest_proved": False, "proof": PROOF}, "fewest not proved"),
        (
            {"is_fewest_proved": False, "policy_name": "odd"},
            "policy **odd** chose; nobody of them could have been",
        ),
        ({"is_fewest_proved": False, "victims": []}, "Nobody had to stop"),
        ({"is_fewest_proved": True}, "enough; among equals the lowest sum"),
        ({"is_fewest_proved": True, "proof": {**PROOF, "fewest": 1}}, "enough; among equals the lowest sum"),
        (
            {"is_fewest_proved": True, "proof": PROOF},
            "enough (**1,234** smaller sets ruled out, 1,200 of them by a bound); among equals the lowest sum",
        ),
        (
            {"is_fewest_proved": True, "proof": {**PROOF, "is_best": False}},
            "by a bound); that no equal number has a lower sum of priorities was not proved",
        ),
    ],
    ids=["not-proved", "foreign-policy", "nobody", "no-proof-kept", "one-victim", "proved", "sum-not-proved"],
)
def test_the_sentence_says_what_was_proved(record, expected):
    shipped = {"policy_name": "lowest_priority_first", "victims": [{}]}

    assert expected in why_preempted._proved(shipped | record)
