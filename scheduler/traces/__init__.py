"""
Workload traces of other systems: read them, scale their time, and submit them into the running system.

Readers are pure: lines in, entries or named faults out. `replay` submits through the service that pages use.
"""
