"""What a switch gains and costs, who is at risk and who is protected: the numbers of the preview in words."""

from __future__ import annotations

import collections
from collections.abc import Callable, Mapping
from typing import Any

from scheduler.core import explain
from scheduler.selectors import explanations, exposures, preview, shadow_reports, slot_kinds
from xceweb.common import reasons, wording
from xceweb.dashboard.contexts import words

Kinds = Mapping[str, slot_kinds.Kind]
#: Up to so many groups are told one by one.
MOST_GROUPS = 10
_HOUR = 3_600


def figures(found: preview.Preview, kinds: Kinds) -> list[dict[str, str]]:
    """Return the four key figures: who stops, who starts, waiting saved, work lost."""
    stops, starts = len(found.victims), len(found.starts)
    return [
        _figure(str(stops), f"session{'' if stops == 1 else 's'} would stop", "cost" if stops else ""),
        _figure(str(starts), f"session{'' if starts == 1 else 's'} would start", "gain" if starts else ""),
        _saved(found),
        _lost(found.lost, kinds),
    ]


def _figure(value: str, label: str, tone: str) -> dict[str, str]:
    return {"value": value, "unit": "", "label": label, "tone": tone}


def _saved(found: preview.Preview) -> dict[str, str]:
    unknown = found.unknown
    if unknown and unknown == len(found.starts):
        return _figure("not known", "waiting saved: no time limit tells when they would start otherwise", "")
    label = "of waiting saved, by time limits"
    if unknown:
        label += f"; of {words.count(unknown, 'start')} it is not known"
    return _figure(_time(found.saved_s), label, "gain" if found.saved_s else "")


def _lost(total: Mapping[str, int], kinds: Kinds) -> dict[str, str]:
    kind = main_kind(total, kinds)
    if kind is None:
        return _figure("0", "slot-seconds of work lost", "")
    seconds, hours = _slot_seconds(total[kind.name], kind)
    noun = _noun(kind)
    label = f"{noun}-seconds of work lost"
    return _figure(f"{seconds:,}", f"{label}, {hours} {noun}-hours" if hours else label, "cost")


def of_shadow(report: shadow_reports.Report, kinds: Kinds) -> list[dict[str, str]]:
    """Return the key figures of a time in shadow."""
    return [
        _figure(str(report.stopped), "sessions would have stopped", "cost" if report.stopped else ""),
        _figure(str(report.helped), "would have got room", "gain" if report.helped else ""),
        _figure(_time(report.waited_s), "of waiting since then", "gain" if report.waited_s else ""),
        _lost(report.lost, kinds),
    ]


def main_kind(total: Mapping[str, int], kinds: Kinds) -> slot_kinds.Kind | None:
    """Return the kind that counts most of those there are: devices, then cores, then others by name."""
    found = [kind for name, kind in kinds.items() if total.get(name)]
    return found[0] if found else None


def _noun(kind: slot_kinds.Kind) -> str:
    return kind.unit.removesuffix("s") if kind.unit and not kind.is_bytes else kind.name


def _slot_seconds(amount: int, kind: slot_kinds.Kind) -> tuple[int, str]:
    """Return whole slot-seconds, and slot-hours in words where that is a tenth or more."""
    seconds = amount // kind.scale
    return seconds, f"{seconds * 10 // _HOUR / 10:,.1f}" if seconds * 10 >= _HOUR else ""


def lost(total: Mapping[str, int], kinds: Kinds) -> str:
    """Write what is lost in the kind that counts most: ``20,520 GPU-s``; empty for nothing."""
    kind = main_kind(total, kinds)
    if kind is None:
        return ""
    return f"{_slot_seconds(total[kind.name], kind)[0]:,} {_noun(kind)}-s"


def gain(start: preview.PreviewStart) -> dict[str, str]:
    """Return how much sooner a session starts, and how long it has waited."""
    waited = f"has waited {_time(start.waited_s)}"
    if start.saved_s is None:
        return {"gain": f"starts in {_time(start.grace_s)}", "waited": f"{waited}; otherwise not known when"}
    return {"gain": f"{_time(start.saved_s)} sooner", "waited": waited}


def _time(seconds: int) -> str:
    return wording.duration(seconds * wording.MICROSECONDS)


def grouped(found: preview.Preview, kinds: Kinds) -> dict[str, Any]:
    """Return the victims by owner where these are few, else by queue."""
    owners = {victim.session.owner_id for victim in found.victims}
    if len(owners) <= MOST_GROUPS:
        return _groups("Owner", lambda one: one.session.owner.get_username(), found, kinds)
    return _groups("Queue", lambda one: one.session.queue.slug, found, kinds)


def _groups(
    title: str, key: Callable[[preview.PreviewVictim], str], found: preview.Preview, kinds: Kinds
) -> dict[str, Any]:
    by_key: dict[str, list[preview.PreviewVictim]] = collections.defaultdict(list)
    for victim in found.victims:
        by_key[key(victim)].append(victim)
    ordered = sorted(by_key.items(), key=lambda pair: (-len(pair[1]), pair[0]))
    return {"title": title, "rows": [_group(name, victims, kinds) for name, victims in ordered]}


def _group(name: str, victims: list[preview.PreviewVictim], kinds: Kinds) -> dict[str, Any]:
    slots: collections.Counter[str] = collections.Counter()
    total: collections.Counter[str] = collections.Counter()
    for victim in victims:
        slots.update({kind: n * victim.session.node_count for kind, n in victim.slots.items()})
        total.update(victim.lost)
    return {
        "label": name,
        "count": len(victims),
        "slots": slot_kinds.amounts(slots, kinds),
        "lost": lost(total, kinds) or "nothing",
        "for": words.count(len({victim.preemptor.pk for victim in victims}), "session"),
    }


def away(found: preview.Preview, others: Mapping[int, explanations.Other]) -> list[dict[str, Any]]:
    """Return the victims that do not come back by themselves as they were, by the reason, each with its sessions."""
    by_reason: dict[str, list[dict[str, Any]]] = collections.defaultdict(list)
    for victim in found.victims:
        if victim.stays_away:
            by_reason[victim.stays_away].append(words.shown(others.get(victim.session.pk)))
    return [
        {"reason": reason, "count": len(shown), "shown": shown[:5], "more": max(0, len(shown) - 5)}
        for reason, shown in sorted(by_reason.items())
    ]


def exposed(found: preview.Preview, kinds: Kinds) -> dict[str, Any]:
    """Return who is protected and why, who is untouched, and the exposure of each owner."""
    risks = found.exposures
    untouched = {"count": risks.untouched, "slots": slot_kinds.amounts(risks.untouched_slots, kinds)}
    return {
        "protected": [_protected(one, kinds) for one in risks.protected],
        "untouched": untouched if risks.untouched else None,
        "exposure": [_owner(one, found, kinds) for one in risks.owners],
    }


def _protected(one: exposures.Protected, kinds: Kinds) -> dict[str, Any]:
    title = explain.verdict_text(one.verdict, {}, axis=one.axis).partition(":")[0]
    facts = explain.verdict_text(one.verdict, one.facts, axis=one.axis).partition(":")[2].strip()
    example = f"{one.example.name}: {facts}" if facts and one.facts else one.example.name
    return {
        "label": title[:1].upper() + title[1:],
        "help_url": reasons.url(one.verdict),
        "count": one.count,
        "slots": slot_kinds.amounts(one.slots, kinds),
        "example": example,
    }


def _owner(one: exposures.OfOwner, found: preview.Preview, kinds: Kinds) -> dict[str, Any]:
    mine = [victim for victim in found.victims if victim.session.owner_id == one.owner.pk]
    slots: collections.Counter[str] = collections.Counter()
    total: collections.Counter[str] = collections.Counter()
    for victim in mine:
        slots.update({kind: n * victim.session.node_count for kind, n in victim.slots.items()})
        total.update(victim.lost)
    return {
        "owner": one.owner.username,
        "stop": one.stop,
        "could": one.could,
        "safe": one.safe,
        "by_others": one.by_others,
        "slots": slot_kinds.amounts(slots, kinds),
        "lost": lost(total, kinds),
        "gains": _gains(one, found),
    }


def _gains(one: exposures.OfOwner, found: preview.Preview) -> str:
    starts = sum(start.session.owner_id == one.owner.pk for start in found.starts)
    return f"{words.count(starts, 'start')}" if starts else "nothing"
