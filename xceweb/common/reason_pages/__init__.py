"""
The help page of every reason, as data: what it means, what the owner can do, what an administrator can do.

One closed list per enum: why a session waits, what was thought of a candidate, what became of a preemption. A member
without a page fails a test. Source: DESIGN 7; ECOSYSTEM D.4, D.11.
"""
