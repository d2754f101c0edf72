"""How the switch and the rules of a group look in JSON."""

from __future__ import annotations

from rest_framework import serializers

from scheduler import models
from xceweb.api import fields


class Rules(fields.Strict):
    """The rules of a group; seconds, and null where there is no limit."""

    def get_fields(self) -> dict[str, serializers.Field]:  # type: ignore[type-arg]
        """Return a field for each rule, as the model has it."""
        return {short(name): _rule(name) for name in models.PolicyVersion.RULES}


def short(name: str) -> str:
    """Return a rule's name inside the object ``preemption``."""
    return name.removeprefix("preemption_")


def _rule(name: str) -> serializers.Field:  # type: ignore[type-arg]
    column = models.PolicyVersion._meta.get_field(name)
    more = {"allow_null": column.null, "required": False}
    if column.choices:
        return serializers.ChoiceField([str(value) for value, _ in column.choices], required=False)
    if name == "suspend_releases":
        return serializers.ListField(child=fields.Text(), **more)
    return fields.Flag(**more) if column.get_internal_type() == "BooleanField" else fields.Whole(**more)


class Switched(Rules):
    """The rules, and the switch as one word."""

    def get_fields(self) -> dict[str, serializers.Field]:  # type: ignore[type-arg]
        """Return the rules and ``enabled``."""
        return {"enabled": fields.Flag(required=False, help_text="state is on"), **super().get_fields()}


class Planned(serializers.Serializer):
    """What will be changed by itself, and when."""

    kind = serializers.ChoiceField(["change", "return"])
    at = serializers.DateTimeField()
    for_s = serializers.IntegerField(allow_null=True, help_text="seconds from the change to its way back")
    preemption = Switched(help_text="the rules that it changes")
    reason = serializers.CharField()
    planned_by = serializers.CharField()
    planned_at = serializers.DateTimeField()


class Preemption(serializers.Serializer):
    """The switch and the rules in force."""

    group = serializers.CharField()
    version = serializers.IntegerField()
    preemption = Switched()
    reason = serializers.CharField()
    changed_by = serializers.CharField()
    changed_at = serializers.DateTimeField()
    planned = Planned(allow_null=True)


class PreemptionChange(fields.Strict):
    """
    New rules: those that are left out stay (PATCH), or go back to the defaults (PUT).

    With ``at`` they are put into force then; with ``for_s`` they go back by themselves after so many seconds.
    """

    preemption = Switched()
    reason = fields.Text(max_length=500)
    at = serializers.DateTimeField(required=False)
    for_s = fields.Whole(required=False, help_text="seconds")
    confirm = fields.Text(
        required=False, max_length=100, help_text="the group's name, where the preview has many victims"
    )


class UndoAsk(fields.Strict):
    """Why the version in force is undone."""

    reason = fields.Text(max_length=500)
    only_unacted = fields.Flag(required=False, help_text="not if a round has stopped somebody by it")
    confirm = fields.Text(required=False, max_length=100, help_text="the group's name, where many would stop")


class PreviewAsk(fields.Strict):
    """Rules to try; the others are those in force."""

    preemption = Switched(required=False)


class PreviewVictim(serializers.Serializer):
    """A session that would be stopped."""

    session = serializers.UUIDField(allow_null=True)
    queue = serializers.CharField(allow_null=True)
    node = serializers.CharField()
    axis = serializers.CharField()
    value = serializers.IntegerField()
    preemptor_value = serializers.IntegerField()
    preemptor = serializers.UUIDField(allow_null=True)
    slots = fields.Amounts()
    ran_s = serializers.IntegerField()
    action = serializers.CharField()
    mode = serializers.CharField()
    lost = fields.Amounts(help_text="kind -> amount x seconds of its run that the stop throws away")
    stays_away = serializers.CharField(
        allow_blank=True, help_text="why it does not come back by itself as it was, or empty"
    )


class OwnerExposure(serializers.Serializer):
    """Running sessions of one owner, as far as the reader may see them."""

    owner = serializers.CharField()
    stop = serializers.IntegerField(help_text="would be stopped now")
    could = serializers.IntegerField(help_text="nobody needs now, but these rules let them be stopped")
    by_others = serializers.IntegerField(help_text="of these, by sessions of other owners")
    protected = serializers.IntegerField()


class Caution(serializers.Serializer):
    """What is allowed but dangerous about rules."""

    code = serializers.CharField()
    text = serializers.CharField()


class Preview(serializers.Serializer):
    """Who would be stopped by one round under these rules; leaves no trace."""

    round = serializers.IntegerField()
    at = serializers.DateTimeField()
    victims = PreviewVictim(many=True)
    starts = serializers.IntegerField(help_text="waiting sessions that would get room")
    waited_s = serializers.IntegerField(help_text="how long these have waited, together")
    saved_s = serializers.IntegerField(help_text="waiting saved, together, by the time limits of others")
    saved_unknown = serializers.IntegerField(help_text="starts of which it is not known what they save")
    lost = fields.Amounts(help_text="kind -> amount x seconds that all stops throw away")
    protected = serializers.DictField(child=serializers.IntegerField(), help_text="verdict -> sessions")
    exposure = OwnerExposure(many=True)
    warnings = Caution(many=True)
    needs_confirm = serializers.BooleanField(help_text="switching on takes the group's name as confirm")


class ShadowOwner(serializers.Serializer):
    """One owner's part of a shadow report."""

    owner = serializers.CharField()
    stopped = serializers.IntegerField()
    lost = fields.Amounts(help_text="kind -> amount x seconds")
    helped = serializers.IntegerField()


class ShadowRepeat(serializers.Serializer):
    """A session that would have been stopped more than once."""

    session = serializers.UUIDField()
    times = serializers.IntegerField()


class ShadowReport(serializers.Serializer):
    """What preemption would have done while the group was in shadow, as far as the reader sees the sessions."""

    since = serializers.DateTimeField()
    until = serializers.DateTimeField(allow_null=True, help_text="null: it is in shadow now")
    decisions = serializers.IntegerField(help_text="different ones: the same sessions again are one")
    rounds = serializers.IntegerField(help_text="how often they came up")
    stopped = serializers.IntegerField(help_text="sessions that would have been stopped")
    helped = serializers.IntegerField(help_text="sessions that would have got room")
    still_waiting = serializers.IntegerField(help_text="of these, those that have not started yet")
    waited_s = serializers.IntegerField(help_text="how long they waited after that, together")
    lost = fields.Amounts(help_text="kind -> amount x seconds of work; each session counted once")
    repeats = ShadowRepeat(many=True)
    owners = ShadowOwner(many=True)
    is_cut = serializers.BooleanField(help_text="older decisions were left out")
    note = serializers.CharField(help_text="what this can and cannot say")


class Version(serializers.Serializer):
    """One version of a group's rules, and what it changed: rule -> [before, after]."""

    version = serializers.IntegerField()
    reason = serializers.CharField()
    changed_by = serializers.CharField()
    changed_at = serializers.DateTimeField()
    preemption = Switched()
    changes = serializers.DictField(child=serializers.ListField())
