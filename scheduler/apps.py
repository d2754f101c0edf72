"""The one Django app."""

from django.apps import AppConfig
from django.core import checks

from scheduler import points


class SchedulerConfig(AppConfig):
    """Models and the machine. Connects no signals."""

    name = "scheduler"
    verbose_name = "Scheduler"

    def ready(self) -> None:
        """Register the checks of this app."""
        checks.register(check_points, checks.Tags.security)


def check_points(**_: object) -> list[checks.CheckMessage]:
    """Fail where something may happen at the places that tests name: never in a program of the product."""
    if not points.is_armed():
        return []
    return [checks.Error("Crash points are armed: this process was started by a test.", id="scheduler.E001")]
