"""Benchmarks of the scheduling core: one command each, a table with its seeds as output (`bin/bench --help`)."""
