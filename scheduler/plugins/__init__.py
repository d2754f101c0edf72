"""
Preemption policies that come from other packages: found by entry point, asked in a process of their own.

Beside the core, which knows only a mapping from name to policy, and without Django. ``catalog`` finds, ``asking``
hands the core its mapping, ``pool`` and ``process`` keep one worker process for each policy, ``worker`` is what runs
there, and ``wire`` is what the two say to each other. Source: DESIGN 2, 5.2, 5.3; ADR 0008.
"""
