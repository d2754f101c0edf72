"""The Django app that brings the template library ``xce`` and nothing else."""

from django import apps


class CommonConfig(apps.AppConfig):
    """Registers the template library; has no models."""

    name = "xceweb.common"
    label = "common"
    verbose_name = "Shared parts of the pages"
