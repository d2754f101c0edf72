"""Sort lists by merging and count how far from sorted they were; the state is the sum of all inversions."""

import pacing


def main():
    """Sort a list of `--size` numbers a step."""
    options = pacing.parse("Sort lists and count their inversions.", size=4_000)
    pacing.run(options, 0, lambda total, number: advance(total, number, options=options))


def advance(total, number, *, options):
    """Sort one list; returns the new sum and a line."""
    generator = pacing.generator(options.seed, number)
    numbers, found = merge_sort([generator.randrange(1_000_000) for _ in range(options.size)])
    total += found
    return total, f"list {number} runs from {numbers[0]} to {numbers[-1]}; {total} inversions so far"


def merge_sort(numbers):
    """Return the numbers in order, and how many pairs stood the wrong way round."""
    if len(numbers) < 2:
        return list(numbers), 0
    middle = len(numbers) // 2
    left, in_left = merge_sort(numbers[:middle])
    right, in_right = merge_sort(numbers[middle:])
    merged, across = _merge(left, right)
    return merged, in_left + in_right + across


def _merge(left, right):
    merged, inversions, at = [], 0, 0
    for number in right:
        while at < len(left) and left[at] <= number:
            merged.append(left[at])
            at += 1
        inversions += len(left) - at
        merged.append(number)
    return merged + left[at:], inversions


if __name__ == "__main__":
    main()
