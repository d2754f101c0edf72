"""The Django app of signing in; it has no models of its own."""

from django import apps


class AccountsConfig(apps.AppConfig):
    """Takes note of when each log-in was made."""

    name = "xceweb.accounts"
    label = "accounts"
    verbose_name = "Signing in"

    def ready(self) -> None:
        """Stamp every log-in, whatever it was made with."""
        from xceweb.accounts import freshness  # needs the models

        freshness.connect()
