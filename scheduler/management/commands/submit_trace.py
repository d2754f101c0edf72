"""`submit_trace`: sessions of a real trace, submitted into the running system at scaled time."""

from __future__ import annotations

import argparse
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from scheduler import errors
from scheduler.core import entities
from scheduler.management import key_files, progress, trace_options
from scheduler.services import actors
from scheduler.traces import plans, reading, replay, room


class Command(BaseCommand):
    """Submit the sessions of a trace into the running system, each as a real process of its scaled time."""

    help = __doc__

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the options."""
        trace_options.declare(parser)

    def handle(self, *args: object, **options: Any) -> None:
        """Make the group if asked to, then submit the file if one is named."""
        chosen = argparse.Namespace(**options)
        if not chosen.make_group and chosen.file is None:
            raise CommandError("name a trace file, or make a group for one with --make-group")
        try:
            if chosen.make_group:
                self._make_group(chosen)
            if chosen.file is not None:
                self._submit(chosen)
        except reading.BadTrace as error:
            raise CommandError(str(error)) from None
        except errors.Refusal as error:
            faults = [f"{field}: {fault}" for field, fault in error.fields.items()]
            raise CommandError("\n".join(faults) or str(error)) from None

    def _make_group(self, options: argparse.Namespace) -> None:
        wanted = room.Room(options.group, options.nodes, entities.PreemptionState(options.preemption))
        actor = actors.of_command("submit_trace")
        nodes = room.make(actor, wanted, say=self.stdout.write)
        self.stdout.write("its agents (bin/up starts those whose keys are in its data directory by itself):")
        for node in nodes:
            path = settings.DATA_DIR / "agents" / node.name / "key.json"
            if not path.exists():
                key_files.enroll(actor, node, path)
            self.stdout.write(f"  {key_files.start_command(node.name, str(path))}")

    def _submit(self, options: argparse.Namespace) -> None:
        trace = reading.read(
            options.file, last=options.last, skip_bad=options.skip_bad, cores_per_node=options.cores_per_node
        )
        if trace.skipped:
            self.stdout.write(f"{trace.skipped} malformed lines skipped")
        room.wait_for_agents(options.group, limit_s=options.agents_limit)
        actor = actors.of_user(trace_options.owner(options))
        plan = trace_options.plan(options)
        if refused := plans.find_refused(actor, plan, trace.entries):
            raise CommandError("\n".join(["nothing was submitted:", *refused]))
        session_ids = self._run(actor, plan, trace)
        if options.wait:
            self._wait(session_ids, options.wait_limit)

    def _run(self, actor: actors.Actor, plan: plans.Plan, trace: reading.Trace) -> list[int]:
        session_ids: list[int] = []

        def count(session_id: int) -> None:
            session_ids.append(session_id)
            bar.show(len(session_ids), "submitted")

        with progress.Progress(self.stdout, total=len(trace.entries)) as bar:
            try:
                replay.submit_all(actor, plan, trace.entries, on_submitted=count)
            except KeyboardInterrupt:
                message = f"interrupted after {len(session_ids)} sessions; they go on"
                raise CommandError(message, returncode=130) from None
        return session_ids

    def _wait(self, session_ids: list[int], limit_s: int) -> None:
        with progress.Progress(self.stdout, total=len(session_ids)) as bar:
            last = replay.follow(
                session_ids,
                limit_s=limit_s,
                on_look=lambda now: bar.show(len(session_ids) - now.alive, str(now)),
            )
        if not last.is_settled:
            raise CommandError(f"not settled after {limit_s} s: {last}")
        if not last.is_good:
            raise CommandError(f"not all that could run ended well: {last}")
        self.stdout.write(f"settled: {last}")
