"""
How many live connections one person and one address may hold at once, counted by each server process.

A socket and a stream over HTTP count alike. Nobody else's connections end for them: the new one is refused.
"""

from __future__ import annotations

import collections
import dataclasses

from django.conf import settings

from xceweb.live import logins

_people: collections.Counter[int] = collections.Counter()
_addresses: collections.Counter[str] = collections.Counter()


@dataclasses.dataclass(frozen=True, slots=True)
class Place:
    """One connection of a person from an address; made by ``take`` only."""

    user_id: int
    address: str

    def give_back(self) -> None:
        """Let another connection have it."""
        for counter, key in ((_people, self.user_id), (_addresses, self.address)):
            counter[key] -= 1
            if counter[key] <= 0:
                del counter[key]


def has_room(user_id: int, address: str) -> bool:
    """Say whether a person may open one more connection from an address; 0 in a setting = any number."""
    of_person, of_address = settings.LIVE_PER_PERSON, settings.LIVE_PER_ADDRESS
    is_person_free = not of_person or _people[user_id] < of_person
    return is_person_free and (not of_address or _addresses[address] < of_address)


def take(user_id: int, address: str) -> Place:
    """
    Count one more connection.

    Raises:
        Ended: with ``TOO_MANY``, when the person or the address has as many as it may.
    """
    if not has_room(user_id, address):
        raise logins.Ended(logins.TOO_MANY)
    _people[user_id] += 1
    _addresses[address] += 1
    return Place(user_id, address)
