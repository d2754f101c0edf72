"""
A cluster on virtual time: the real services on a database of their own, and agents that only exist as their answers.

Deterministic: time moves only when it is moved, and an agent answers a command after as many seconds as its habits say.
"""
