"""
The scheduling core: arithmetic on frozen values.

Rule: the standard library (and NumPy where a benchmark asks for it), nothing else. No Django, no clock, no
I/O, no randomness, no logging, no globals that change. Time is a field of the snapshot. The same input gives
the same output, byte for byte, and the only way out is the one callback of ``decisions.Decide``.
"""

#: Version of the core's decisions. A stored round names it; it changes whenever the same snapshot may be
#: decided otherwise.
CORE_VERSION = "8"
