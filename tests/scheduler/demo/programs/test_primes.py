"""Primes are counted rightly."""


def test_primes_are_counted_rightly(output_of):
    output = output_of("primes", "--steps", 10, "--size", 1000)

    assert "step 1/10: 168 primes below 1000\n" in output
    assert "step 10/10: 1229 primes below 10000\n" in output
