"""Pi comes out, and a seed decides how."""

import re


def test_pi_is_about_right(output_of):
    output = output_of("pi", "--steps", 5, "--size", 20_000)

    assert 3.12 < float(re.findall(r"pi is about (\S+)", output)[-1]) < 3.16


def test_the_seed_decides_the_points(output_of):
    runs = [output_of("pi", "--steps", 2, "--size", 500, "--seed", seed) for seed in (1, 1, 2)]

    assert runs[0] == runs[1]
    assert runs[0] != runs[2]
