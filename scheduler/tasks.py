"""Celery shells. Each may run twice, late or never without harm: the database decides."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from celery import Task, shared_task
from django.conf import settings

from scheduler.services import output_pages, pruning, report_queue, reports, rounds
from scheduler.services import reconcile as reconciler

log = logging.getLogger(__name__)


class Pace:
    """
    Lets a process do something that is harmless, but not free, once in a while only.

    Ticks that waited for a busy worker come in a burst, and each would find what the one before has left: nothing.
    """

    def __init__(self, pause_s: float, *, clock_s: Callable[[], float] = time.monotonic) -> None:
        self._pause_s, self._clock_s = pause_s, clock_s
        self._ended_s = float("-inf")

    def is_due(self) -> bool:
        """Say whether enough time has passed since it was last done."""
        return self._clock_s() - self._ended_s >= self._pause_s

    def done(self) -> None:
        """Take note that it was done just now."""
        self._ended_s = self._clock_s()


#: Half the time between two ticks of the beat.
reconciling = Pace(0.5 * settings.TIME_SCALE)


@shared_task(name="xce.round")
def run_round(group_id: int) -> None:
    """Run one round over one group, if an event has asked for one since the last."""
    _log(rounds.serve_requests(group_id))


@shared_task(name="xce.due_rounds")
def run_due_rounds() -> None:
    """Run the round that is due in every group: the beat's safety net."""
    for group_id in rounds.due_group_ids():
        _log(rounds.run_due_round(group_id))


def _log(summary: rounds.RoundSummary | None) -> None:
    if summary and (summary.dispatched or summary.preempted or summary.dropped):
        log.info("%s", summary)


@shared_task(name=report_queue.TASK, bind=True)
def take_report(self: Task, text: str) -> None:
    """Apply one signed report of an agent, and those that wait behind it."""
    is_from_queue = not self.request.called_directly and not self.request.is_eager
    reports.receive_many([text, *(report_queue.waiting(self.app) if is_from_queue else ())])


@shared_task(name="xce.reconcile")
def reconcile() -> None:
    """Look at everything that has a deadline, unless this process has just done so."""
    if reconciling.is_due():
        reconciler.run()
        reconciling.done()


@shared_task(name="xce.prune")
def prune() -> None:
    """Empty what is kept longer than the setting says."""
    pruning.prune_snapshots()
    pruning.prune_answers()
    output_pages.prune()
