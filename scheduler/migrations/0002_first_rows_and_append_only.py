"""The rows that every installation has, and the triggers that keep append-only tables append-only (P05)."""

from django.db import migrations

APPEND_ONLY = (
    "scheduler_event",
    "scheduler_decision",
    "scheduler_victim",
    "scheduler_victimfate",
    "scheduler_outcome",
    "scheduler_configchange",
    "scheduler_policyversion",
)

REFUSE = """
CREATE FUNCTION xce_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;
"""


def add_rows(apps, schema_editor):
    slot_kind = apps.get_model("scheduler", "SlotKind")
    slot_kind.objects.bulk_create(
        [
            slot_kind(name="cpu", scale=1000, unit="cores"),
            slot_kind(name="mem", scale=1, is_bytes=True, unit="bytes"),
            slot_kind(name="cuda.device", scale=1, is_indexed=True, unit="GPUs"),
        ]
    )
    apps.get_model("scheduler", "EventCounter").objects.create(id=1)
    apps.get_model("scheduler", "KeypairResourcePolicy").objects.create(name="default")


class Migration(migrations.Migration):
    dependencies = [("scheduler", "0001_initial")]

    operations = [
        migrations.RunPython(add_rows, migrations.RunPython.noop),
        migrations.RunSQL(REFUSE, "DROP FUNCTION xce_refuse_change() CASCADE"),
        *[
            migrations.RunSQL(
                f"CREATE TRIGGER {table}_is_append_only BEFORE UPDATE OR DELETE ON {table} "
                "FOR EACH ROW EXECUTE FUNCTION xce_refuse_change()",
                f"DROP TRIGGER {table}_is_append_only ON {table}",
            )
            for table in APPEND_ONLY
        ],
    ]
