"""The Django app of the live stream; it has no models of its own."""

from django import apps


class LiveConfig(apps.AppConfig):
    """Connects what listens to changes of rights."""

    name = "xceweb.live"
    label = "live"
    verbose_name = "Live stream"

    def ready(self) -> None:
        """Ring the sockets of people whose rights change, whichever process changes them."""
        from xceweb.live import rights  # needs the models

        rights.connect()
