"""A session that rests in pending or terminated holds nothing on any node: checked at commit (P01)."""

from django.db import migrations

NAME = "session_that_ended_holds_nothing"

REFUSE = """
CREATE FUNCTION xce_session_that_ended_holds_nothing() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    about bigint;
BEGIN
    IF TG_TABLE_NAME = 'scheduler_allocation' THEN about := NEW.session_id; ELSE about := NEW.id; END IF;
    IF EXISTS (
        SELECT 1 FROM scheduler_session s JOIN scheduler_allocation a ON a.session_id = s.id
        WHERE s.id = about AND s.state IN ('pending', 'terminated')
    ) THEN
        RAISE EXCEPTION 'session % holds a node in a state that holds nothing', about
            USING ERRCODE = 'check_violation', CONSTRAINT = 'session_that_ended_holds_nothing';
    END IF;
    RETURN NULL;
END $$;
"""


def _watch(table: str, columns: str) -> migrations.RunSQL:
    return migrations.RunSQL(
        f"CREATE CONSTRAINT TRIGGER {NAME} AFTER INSERT OR UPDATE OF {columns} ON {table} "
        f"DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION xce_{NAME}()",
        f"DROP TRIGGER {NAME} ON {table}",
    )


class Migration(migrations.Migration):
    dependencies = [("scheduler", "0002_first_rows_and_append_only")]

    operations = [
        migrations.RunSQL(REFUSE, f"DROP FUNCTION xce_{NAME}()"),
        _watch("scheduler_session", "state"),
        _watch("scheduler_allocation", "session_id"),
    ]
