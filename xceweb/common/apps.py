"""The Django app that brings the template library ``xce``, and connects what listens to changes of rights."""

from django import apps


class CommonConfig(apps.AppConfig):
    """Registers the template library and the listeners; has no models."""

    name = "xceweb.common"
    label = "common"
    verbose_name = "Shared parts of the pages"

    def ready(self) -> None:
        """Ring the sockets of people whose rights change, whichever process changes them."""
        from xceweb.live import rights  # needs the models

        rights.connect()
