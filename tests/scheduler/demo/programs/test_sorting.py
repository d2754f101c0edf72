"""Lists are sorted, and inversions counted as a slow count says."""

import itertools
import random
import re


def test_inversions_are_counted_rightly(output_of):
    output = output_of("sorting", "--steps", 1, "--size", 60, "--seed", 3)
    draw = random.Random(3 * 1_000_003 + 1)
    numbers = [draw.randrange(1_000_000) for _ in range(60)]
    inversions = sum(a > b for a, b in itertools.combinations(numbers, 2))

    assert re.findall(r"(\d+) inversions", output) == [str(inversions)]
    assert f"runs from {min(numbers)} to {max(numbers)};" in output
