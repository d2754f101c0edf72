"""The one Django app."""

from django.apps import AppConfig


class SchedulerConfig(AppConfig):
    """Models and the machine. Connects no signals."""

    name = "scheduler"
    verbose_name = "Scheduler"
