"""How sessions look in JSON, shared by the operations; tests hold every answer against these."""

from __future__ import annotations

from rest_framework import serializers

from xceweb.api import enums, fields


class Session(serializers.Serializer):
    """A session; what the reader may not see is null."""

    id = serializers.UUIDField()
    name = serializers.CharField(allow_null=True)
    owner = serializers.CharField(allow_null=True)
    is_mine = serializers.BooleanField()
    group = serializers.CharField()
    queue = serializers.CharField()
    type = serializers.ChoiceField(enums.SESSION_TYPE, allow_null=True)
    state = serializers.ChoiceField(enums.SESSION_STATE)
    state_since = serializers.DateTimeField()
    result = serializers.CharField(allow_blank=True, help_text="how it ended, empty while it lives")
    reason = serializers.CharField(allow_null=True, help_text="why it waits: the code of the headline")
    priority = serializers.IntegerField(allow_null=True)
    job_priority = serializers.IntegerField(allow_null=True)
    is_preemptible = serializers.BooleanField(allow_null=True)
    is_held = serializers.BooleanField(allow_null=True)
    is_private = serializers.BooleanField(allow_null=True)
    slots = fields.Amounts(help_text="on each node, in the smallest unit of the kind")
    node_count = serializers.IntegerField()
    nodes = serializers.ListField(child=serializers.CharField(), allow_null=True)
    submitted_at = serializers.DateTimeField()
    started_at = serializers.DateTimeField(allow_null=True)
    ended_at = serializers.DateTimeField(allow_null=True)
    times_preempted = serializers.IntegerField(allow_null=True)
    attempt = serializers.IntegerField(allow_null=True)
    exit_code = serializers.IntegerField(allow_null=True)
    exit_signal = serializers.IntegerField(allow_null=True)
    url = serializers.CharField(help_text="of its page")


class SessionInside(Session):
    """A session whole: null is what only its owner and administrators, or only operators, may read."""

    wall_limit = serializers.IntegerField(allow_null=True, help_text="seconds")
    begin_at = serializers.DateTimeField(allow_null=True)
    grace_period = serializers.IntegerField(allow_null=True, help_text="seconds")
    warning_signal = serializers.IntegerField(allow_null=True)
    exit_0_after_warning = serializers.CharField(allow_null=True)
    restartable = serializers.BooleanField(allow_null=True)
    required_labels = serializers.DictField(
        child=serializers.ListField(child=serializers.CharField()), allow_null=True
    )
    argv = serializers.ListField(child=serializers.CharField(), allow_null=True)
    script = serializers.CharField(allow_null=True, allow_blank=True)
    workdir = serializers.CharField(allow_null=True, allow_blank=True)
    environment = serializers.DictField(child=serializers.CharField(allow_blank=True), allow_null=True)
    port = serializers.IntegerField(allow_null=True)


class Submission(fields.Strict):
    """A request for a session. Amounts are what people write: ``2``, ``"0.5"``, ``"4g"``."""

    name = fields.Text(max_length=100)
    group = fields.Text()
    queue = fields.Text()
    type = fields.Text(required=False)
    argv = serializers.ListField(child=fields.Text(allow_blank=True, trim_whitespace=False), required=False)
    script = fields.Text(required=False, allow_blank=True, trim_whitespace=False)
    environment = serializers.DictField(
        child=fields.Text(allow_blank=True, trim_whitespace=False), required=False
    )
    workdir = fields.Text(required=False, allow_blank=True)
    slots = fields.Amounts()
    node_count = fields.Whole(required=False)
    required_labels = serializers.DictField(
        child=serializers.ListField(child=fields.Text()), required=False, help_text="label -> accepted values"
    )
    priority = fields.Whole(required=False, allow_null=True, help_text="0 to 100; null = the queue's default")
    job_priority = fields.Whole(required=False, help_text="rank among one's own sessions")
    is_preemptible = fields.Flag(required=False, allow_null=True)
    warning_signal = fields.Whole(required=False)
    grace_period = fields.Whole(required=False, allow_null=True)
    exit_0_after_warning = fields.Text(required=False)
    restartable = fields.Flag(required=False, allow_null=True)
    begin_at = serializers.DateTimeField(required=False, allow_null=True)
    wall_limit = fields.Whole(required=False, allow_null=True)
    port = fields.Whole(required=False, allow_null=True)
    is_held = fields.Flag(required=False)
    is_private = fields.Flag(required=False)
    dependencies = serializers.ListField(
        child=serializers.DictField(child=fields.Text()),
        required=False,
        help_text='[{"kind": "afterok", "session": id}], or "afterany"',
    )


class SessionChange(fields.Strict):
    """What an owner may change of a session; what is left out stays."""

    priority = fields.Whole(required=False)
    job_priority = fields.Whole(required=False)
    is_preemptible = fields.Flag(required=False)


class Reason(fields.Strict):
    """Why; for everybody to read."""

    reason = fields.Text(required=False, allow_blank=True, max_length=500)


class DryRun(serializers.Serializer):
    """What would happen to a session if it were submitted now; reserves nothing."""

    outcome = serializers.ChoiceField(enums.DRY_RUN_OUTCOME)
    nodes = serializers.ListField(child=serializers.CharField())
    victims = serializers.IntegerField(help_text="how many sessions would be stopped for it")
    axis = serializers.CharField(allow_blank=True)
    reason = serializers.CharField(allow_null=True)
    sentence = serializers.CharField(allow_blank=True)
    round = serializers.IntegerField()
    at = serializers.DateTimeField()
    variants = serializers.ListField(
        child=serializers.DictField(), help_text="changed requests that were tried"
    )


class Step(serializers.Serializer):
    """One thing that happened, to a session, a node, a queue or a group."""

    version = serializers.IntegerField(help_text="of the form of an event")
    number = serializers.IntegerField()
    type = serializers.CharField()
    at = serializers.DateTimeField()
    session = serializers.UUIDField(allow_null=True)
    group = serializers.CharField(allow_null=True)
    node = serializers.CharField(allow_null=True)
    decision = serializers.UUIDField(allow_null=True)
    text = serializers.CharField()
    changed = serializers.ListField(child=serializers.CharField())
    link = serializers.CharField(allow_blank=True)


class Run(serializers.Serializer):
    """One attempt of a session."""

    attempt = serializers.IntegerField()
    nodes = serializers.ListField(child=serializers.CharField())
    dispatched_at = serializers.DateTimeField()
    started_at = serializers.DateTimeField(allow_null=True)
    ended_at = serializers.DateTimeField(allow_null=True)
    how_ended = serializers.CharField(allow_blank=True)
    exit_code = serializers.IntegerField(allow_null=True)
    exit_signal = serializers.IntegerField(allow_null=True)
    cpu_ms = serializers.IntegerField(allow_null=True)
    peak_bytes = serializers.IntegerField(allow_null=True)
    ran_ms = serializers.IntegerField(allow_null=True)
    was_checkpointed = serializers.BooleanField()


class RunLine(Run):
    """One attempt in a list of many sessions'."""

    session = serializers.UUIDField()
    name = serializers.CharField()
    group = serializers.CharField()
    queue = serializers.CharField()


class Output(serializers.Serializer):
    """A part of a session's output. ``state``: last-lines, page, asked (ask again in a moment), gone or none."""

    state = serializers.ChoiceField(enums.OUTPUT_STATE)
    offset = serializers.IntegerField(help_text="its first byte")
    next_offset = serializers.IntegerField()
    size = serializers.IntegerField(help_text="bytes of the whole")
    text = serializers.CharField(allow_blank=True)
