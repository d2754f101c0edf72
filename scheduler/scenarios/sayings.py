"""
What a case says in its own words of why a session waits, as codes of headline reasons.

A code, or a phrase that has one meaning, is compared strictly. Other sentences are known by their main words alone:
they can confirm an answer, and never refute one.
"""

from __future__ import annotations

import dataclasses
import re

from scheduler.core import decisions
from scheduler.scenarios import answers

_R = decisions.PendReason


@dataclasses.dataclass(frozen=True)
class Meant:
    """The codes that a text may mean."""

    codes: frozenset[str]
    is_exact: bool  #: another code is a difference; else it only cannot be compared

    @property
    def text(self) -> str:
        """Return the codes as a difference names them: one for all that stand for the same."""
        same = self.codes == decisions.SHORT_OF_SLOTS
        return str(_R.NO_RESOURCES) if same else " or ".join(sorted(self.codes))


#: Phrases with one meaning.
_PHRASES: tuple[tuple[str, frozenset[_R]], ...] = (
    (r"no node in the group offers slot [\w.-]+", frozenset({_R.NEVER_FITS})),
    (r"[\d.]+ [\w.-]+ cannot be freed on any one node", decisions.SHORT_OF_SLOTS),
    (r"suspending frees [\w.-]+ but not [\w.-]+", decisions.SHORT_OF_SLOTS),
)
_LIMITS = frozenset({_R.OWNER_LIMIT, _R.QUEUE_LIMIT, _R.EXCEEDS_OWNER_LIMIT, _R.EXCEEDS_QUEUE_LIMIT})
_LACKING = decisions.SHORT_OF_SLOTS | {_R.ROOM_CLAIMED, _R.HOLDS_CLAIM}
#: Main words, the most telling first.
_WORDS: tuple[tuple[str, frozenset[_R]], ...] = (
    (r"\bheld\b|\bon hold\b", frozenset({_R.HELD})),
    (r"\bgroup\b.*\bstopped\b", frozenset({_R.GROUP_STOPPED})),
    (r"\bqueue\b.*\b(stopped|closed)\b", frozenset({_R.QUEUE_STOPPED})),
    (r"\bbegin time\b|\bnot before\b", frozenset({_R.BEGIN_TIME})),
    (r"\bdepend", frozenset({_R.DEPENDENCY, _R.DEPENDENCY_IMPOSSIBLE})),
    (r"\blabels?\b|\bfeatures?\b|\bno matching node\b", frozenset({_R.NO_MATCHING_NODE})),
    (r"\bnever\b|\bno node\b.*\b(offers|has|holds)\b|\b(larger|bigger) than\b", frozenset({_R.NEVER_FITS})),
    (r"\b(limits?|quota|caps?)\b", _LIMITS),
    (r"\b(awaiting|waits? for|waiting for)\b", frozenset({_R.AWAITING_VICTIMS, _R.AWAITING_RELEASE})),
    (r"\b(kept|reserved|promised) for\b|\bclaim", _LACKING),
    (r"\bplug-?in\b|\bpolicy\b.*\b(missing|gone|failed)\b", frozenset({_R.POLICY_FAILED})),
    (r"\b(short|lacks?|few|fragmented|scattered|behind|cannot|not|no|nobody)\b", _LACKING),
    (r"\b(equal|higher|lower|protected|minimum|opted out|off|shadow)\b", _LACKING),
)


def reasons(text: str) -> Meant:
    """Return what a text means; no codes where it says nothing that is known."""
    code = text.strip().lower().replace("_", "-").replace(" ", "-")
    if code in list(_R):
        return Meant(answers.headlines(code), True)
    for pattern, codes in _PHRASES:
        if re.fullmatch(pattern, text.strip()):
            return Meant(frozenset(codes), True)
    for pattern, codes in _WORDS:
        if re.search(pattern, text, re.IGNORECASE):
            return Meant(frozenset(codes), False)
    return Meant(frozenset(), False)
