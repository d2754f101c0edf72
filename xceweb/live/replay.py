"""
Bring one subscription up to the newest event: a batch, nothing, or a resync.

The arithmetic of ``prev`` and ``last`` lives here. A batch says "with all up to ``prev`` you now hold all up
to ``last``"; a client that holds another number asks again. More than ``RESYNC_AFTER`` events behind, the
client fetches the page anew instead of being told each step.
"""

from __future__ import annotations

from scheduler.selectors import event_log
from xceweb.live import frames, log, topics

RESYNC_AFTER = 500


async def catch_up(
    subscription: topics.Subscription,
    reader: log.LogReader,
    *,
    rights: event_log.Rights,
    tell_empty: bool = False,
) -> list[frames.Frame]:
    """
    Return the frames that bring a subscription to the reader's newest number, and move it there.

    Args:
        tell_empty: return a batch without events too, so that the client's number keeps up.
    """
    last = reader.last
    if not subscription.scanned <= last <= subscription.scanned + RESYNC_AFTER:
        subscription.sent = subscription.scanned = last
        return [frames.frame("resync", topic=subscription.topic, last=last)]
    entries = await reader.between(subscription.scanned, last)
    seen = event_log.seen(rights, entries, wanted=subscription.wants)
    subscription.scanned = last
    if not seen and not tell_empty:
        return []
    prev, subscription.sent = subscription.sent, last
    events = [(entry.number, reader.written(entry, sight)) for entry, sight in seen]
    return frames.batches(subscription.topic, (prev, last), events)
