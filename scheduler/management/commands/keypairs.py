"""`keypairs`: the API keypairs of one person, a new one, and an end to some of them."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from scheduler import errors, models
from scheduler.services import actors, keypairs

_ACTOR = "keypairs"


class Command(BaseCommand):
    """List a person's keypairs, issue one (its secret is printed this once), or revoke some."""

    help = __doc__

    def add_arguments(self, parser: Any) -> None:
        """Declare the options."""
        parser.add_argument("user", help="user name of the person")
        parser.add_argument("--issue", metavar="NAME", help="make one, and call it so")
        parser.add_argument("--scope", default="sessions", help="of the new one: read, sessions or full")
        parser.add_argument(
            "--policy", help="of the new one: a keypair resource policy; default its person's"
        )
        parser.add_argument("--revoke", action="append", default=[], metavar="ACCESS", help="may be repeated")
        parser.add_argument("--reason", default="", help="why, for the record of changes")

    def handle(self, *args: object, **options: Any) -> None:
        """Revoke what was named, issue what was asked for, and list what there is."""
        user = models.User.objects.select_related("policy").filter(username=options["user"]).first()
        if user is None:
            raise CommandError(f"there is no person {options['user']!r}")
        try:
            for access_key in options["revoke"]:
                keypairs.revoke(actors.of_command(_ACTOR), _of(user, access_key), reason=options["reason"])
            if options["issue"]:
                self._issue(user, options)
        except errors.Refusal as refusal:
            raise CommandError(str(refusal)) from None
        for row in models.Keypair.objects.filter(user=user).order_by("pk"):
            self.stdout.write(f"{row.access_key}  {_state(row)}  {row.scope}  {row.name}")

    def _issue(self, user: models.User, options: dict[str, Any]) -> None:
        policy = None
        if options["policy"]:
            policy = models.KeypairResourcePolicy.objects.filter(name=options["policy"]).first()
            if policy is None:
                raise CommandError(f"there is no keypair resource policy {options['policy']!r}")
        wish = keypairs.Wish(name=options["issue"], scope=options["scope"], policy=policy)
        row, secret = keypairs.issue(actors.of_command(_ACTOR), user, wish)
        self.stdout.write(f"access key  {row.access_key}")
        self.stdout.write(f"secret      {secret}")
        self.stdout.write("The secret is kept nowhere: write it down now.\n")


def _of(user: models.User, access_key: str) -> models.Keypair:
    row = models.Keypair.objects.filter(user=user, access_key=access_key).first()
    if row is None:
        raise CommandError(f"{user.get_username()} has no keypair {access_key}")
    return row


def _state(row: models.Keypair) -> str:
    if not row.is_active:
        return "revoked"
    return f"ends {row.expires_at:%Y-%m-%d %H:%M} UTC" if row.expires_at else "in force"
