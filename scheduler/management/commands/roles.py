"""`roles`: who may do what in a resource group, and why; first of all who may flip its switch."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from scheduler import models
from scheduler.selectors import roles


class Command(BaseCommand):
    """Print everybody with a role in a group, the strongest first: name, role, where it comes from, rights."""

    help = __doc__

    def add_arguments(self, parser: Any) -> None:
        """Declare the options."""
        parser.add_argument("group", help="name of the resource group")
        parser.add_argument("--may", choices=roles.may(roles.Role.MANAGER), help="only who may do this")

    def handle(self, *args: object, **options: Any) -> None:
        """Print them."""
        group = models.ResourceGroup.objects.filter(slug=options["group"]).first()
        if group is None:
            raise CommandError(f"there is no group {options['group']!r}")
        for one in roles.everybody(group):
            if options["may"] is None or options["may"] in one.may:
                why = ", ".join(one.sources)
                self.stdout.write(f"{one.username}  {one.role}  ({why})  {' '.join(one.may)}")
