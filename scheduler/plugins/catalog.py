"""
Which preemption policies are installed: those of the core, and entry points of other packages.

Only what packages say about themselves is read here; no foreign module is imported. Looked up anew each time, so that
a package that comes or goes is seen without a restart.
"""

from __future__ import annotations

import dataclasses
import importlib.metadata
import re

from scheduler.core.preemption import shipped

#: The group of entry points in which packages offer policies. Source: DESIGN 5.3.
GROUP = "xce.preempt_policies"
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")  # what fits a queue's column and any page
_TARGET = re.compile(r"[A-Za-z0-9_.]+:[A-Za-z0-9_.]+")
_OURS = frozenset({*shipped.FOR_QUEUES, shipped.FOR_OWNERS})


@dataclasses.dataclass(frozen=True, slots=True)
class Found:
    """One name that other packages offer; with a ``fault`` (a predicate, as in "is offered twice") it is not usable."""

    name: str
    target: str  #: ``module:function``
    package: str  #: name and version
    fault: str = ""
    description: str = ""  #: what its package says of itself in one line


def foreign() -> dict[str, Found]:
    """Return what other packages offer, by name. Cost: about 5 ms, one look into every installed package."""
    found: dict[str, Found] = {}
    for point in importlib.metadata.entry_points(group=GROUP):
        if point.name in _OURS or not _NAME.fullmatch(point.name):
            continue
        one = _found(point)
        other = found.get(one.name)
        found[one.name] = _doubled(one, other) if other else one
    return found


def _found(point: importlib.metadata.EntryPoint) -> Found:
    package = f"{point.dist.name} {point.dist.version}" if point.dist else ""
    fault = "" if _TARGET.fullmatch(point.value) else "names no function as module:function"
    summary = str(point.dist.metadata.get("Summary") or "") if point.dist else ""
    return Found(point.name, point.value, package, fault, summary[:200])


def _doubled(one: Found, other: Found) -> Found:
    packages = " and ".join(sorted({one.package, other.package}))
    return dataclasses.replace(one, fault=f"is offered more than once, by {packages}")


def choices() -> list[str]:
    """Return the names that a queue may be given, by name."""
    return sorted([*shipped.FOR_QUEUES, *(one.name for one in foreign().values() if not one.fault)])


def offers() -> list[Found]:
    """Return what a queue may be given, by name, each with its description."""
    ours = [Found(name, "", "shipped", description=shipped.DESCRIPTIONS[name]) for name in shipped.FOR_QUEUES]
    found = [*ours, *(one for one in foreign().values() if not one.fault)]
    return sorted(found, key=lambda one: one.name)


def faults(names: set[str]) -> dict[str, str]:
    """Return, for those of the names that no queue can use now, why: a predicate."""
    unknown = names - set(shipped.FOR_QUEUES)
    if not unknown:
        return {}
    found = foreign()
    told = {name: found[name].fault if name in found else "is not installed" for name in unknown}
    return {name: fault for name, fault in told.items() if fault}


def refusal(name: str) -> str:
    """Return why a queue cannot be given this policy, with those that it can; empty when it can."""
    fault = faults({name}).get(name, "")
    if not fault:
        return ""
    known = ", ".join(choices())
    if fault == "is not installed":
        return f"there is no policy {name!r} for queues; there are: {known}"
    return f"the policy {name!r} {fault}; there are: {known}"
