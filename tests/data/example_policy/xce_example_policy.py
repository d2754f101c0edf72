"""Stop the sessions that started last: they lose the least work. Needs nothing of XCE Web to be imported."""


def select_victims(problem):
    """
    Return (node id, session ids) for one preemptor, or None when no node's candidates suffice.

    Of the nodes that can be freed it takes the one with the fewest victims, then the one that placement likes best.
    """
    answers = []
    for target in problem.targets:
        victims = _needed(target, _enough(target))
        if victims:
            answers.append((len(victims), target.rank, target.node_id, [one.session_id for one in victims]))
    return min(answers)[2:] if answers else None


def _enough(target):
    """Take the newest, then the next, until all that is short is covered."""
    taken = []
    for candidate in sorted(target.candidates, key=lambda one: (-one.start, one.session_id)):
        if _suffices(target, taken):
            break
        taken.append(candidate)
    return taken if _suffices(target, taken) else []


def _needed(target, taken):
    """Give back what is not needed, the oldest first: an answer with a superfluous victim is refused."""
    for candidate in reversed(list(taken)):
        others = [one for one in taken if one is not candidate]
        if _suffices(target, others):
            taken = others
    if target.most is not None and len(taken) > target.most:
        return []
    return taken


def _suffices(target, taken):
    return all(sum(one.gives[kind] for one in taken) >= need for kind, need in enumerate(target.need))
