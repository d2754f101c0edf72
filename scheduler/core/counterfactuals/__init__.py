"""
What would have to be otherwise: answers found by running the very same round on a changed snapshot.

``answers`` is their data, ``changes`` makes a changed snapshot, ``reruns`` runs it within a budget,
``searches`` finds the least or largest value with as few runs as is safe, ``victims`` and ``waiting`` ask the
questions, ``sentences`` writes them. Nothing here is called by a round; whatever goes wrong here stays here.
Source: DESIGN 7.
"""
