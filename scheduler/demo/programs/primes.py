"""Count primes by a sieve that moves up segment by segment; the state is the count so far."""

import math

import pacing


def main():
    """Sieve `--size` numbers a step."""
    options = pacing.parse("Count primes, segment by segment.", size=20_000)
    pacing.run(options, 0, lambda count, number: advance(count, number, size=options.size))


def advance(count, number, *, size):
    """Add the primes of one segment; returns the new count and a line."""
    count += primes_between((number - 1) * size, number * size)
    return count, f"{count} primes below {number * size}"


def primes_between(low, high):
    """Return how many primes p have low <= p < high."""
    low = min(max(low, 2), high)
    is_prime = bytearray([1]) * (high - low)
    for factor in range(2, math.isqrt(max(high - 1, 0)) + 1):
        first = max(factor * factor, -(-low // factor) * factor)
        is_prime[first - low :: factor] = bytes(len(range(first, high, factor)))
    return sum(is_prime)


if __name__ == "__main__":
    main()
