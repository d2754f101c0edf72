"""
Small programs that sessions of the demo run: `python3 .../primes.py --steps 60`. Standard library only.

Each does a piece of real work a second, says how far it is, and goes on from its checkpoint when restarted.
"""
