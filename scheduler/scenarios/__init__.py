"""
Scenarios: a cluster, who runs, who waits, the rules and the right outcome, as data that can be run.

``select`` entries are one decision of the core on a frozen picture; ``lifecycle`` entries are several rounds of the
services on a simulated cluster. The format is described in docs/scenarios.md.
"""
