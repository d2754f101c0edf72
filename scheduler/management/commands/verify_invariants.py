"""Check the live database against what must always hold."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from scheduler.selectors import consistency


class Command(BaseCommand):
    requires_system_checks: list[str] = []
    help = "Recount the ledgers and look for what must not be; exits 1 on a finding."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--settled", action="store_true", help="also report what is in transition")

    def handle(self, *args: Any, **options: Any) -> None:
        texts = consistency.findings() + (consistency.unsettled() if options["settled"] else [])
        for text in texts:
            self.stderr.write(text)
        if texts:
            raise CommandError(f"{len(texts)} findings", returncode=1)
        self.stdout.write("clean: ledgers, devices, usage, events, decisions and victims agree")
