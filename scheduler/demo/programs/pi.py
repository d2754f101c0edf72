"""Estimate pi by throwing points at a square; the state is the count of hits and points."""

import pacing


def main():
    """Throw `--size` points a step."""
    options = pacing.parse("Estimate pi with random points.", size=20_000)
    pacing.run(options, [0, 0], lambda state, number: advance(state, number, options=options))


def advance(state, number, *, options):
    """Throw one step's points; returns [hits, points] and a line."""
    hits, points = state
    hits += throw(pacing.generator(options.seed, number), points=options.size)
    points += options.size
    return [hits, points], f"pi is about {4 * hits / points:.6f} after {points} points"


def throw(generator, *, points):
    """Return how many of so many points fall into the quarter circle."""
    draw = generator.random
    return sum(draw() ** 2 + draw() ** 2 <= 1 for _ in range(points))


if __name__ == "__main__":
    main()
