"""Train a toy model: least squares by gradient descent on made-up data; the state is its weights."""

import pacing

RATE = 0.05
NOISE = 0.1
WEIGHTS = (1.5, -2.0, 0.5, 3.0)


def main():
    """Run one epoch over `--size` samples a step."""
    options = pacing.parse("Train a toy model whose loss falls.", size=1_000)
    samples = make_samples(pacing.generator(options.seed, 0), count=options.size)
    start = [0.0] * len(WEIGHTS)
    pacing.run(options, start, lambda weights, number: advance(weights, number, samples=samples))


def make_samples(generator, *, count):
    """Return (inputs, target) pairs of a linear rule with a little noise."""
    rows = ([generator.uniform(-1, 1) for _ in WEIGHTS] for _ in range(count))
    return [(row, predict(WEIGHTS, row) + generator.gauss(0, NOISE)) for row in rows]


def predict(weights, row):
    """Return the model's answer for one row."""
    return sum(weight * value for weight, value in zip(weights, row, strict=True))


def advance(weights, number, *, samples):
    """Take one step of gradient descent; returns the new weights and a line."""
    errors = [(predict(weights, row) - target, row) for row, target in samples]
    loss = sum(error * error for error, _ in errors) / len(errors)
    slopes = [sum(error * row[k] for error, row in errors) / len(errors) for k in range(len(weights))]
    weights = [weight - 2 * RATE * slope for weight, slope in zip(weights, slopes, strict=True)]
    return weights, f"epoch {number}, loss {loss:.6f}"


if __name__ == "__main__":
    main()
