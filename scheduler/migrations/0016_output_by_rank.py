import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("scheduler", "0015_saved_views")]

    operations = [
        migrations.CreateModel(
            name="RankOutput",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("attempt", models.PositiveIntegerField()),
                ("rank", models.PositiveIntegerField(help_text="place of its node in the run, from 1")),
                ("tail", models.TextField(blank=True)),
                ("size", models.BigIntegerField(default=0)),
                ("is_truncated", models.BooleanField(default=False)),
                ("updated_at", models.DateTimeField()),
                (
                    "session",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="rank_outputs",
                        to="scheduler.session",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("session", "attempt", "rank"), name="output_is_unique_in_session_and_rank"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("rank__gt", 0)), name="output_rank_is_of_a_further_node"
                    ),
                ],
            },
        ),
        migrations.AddField(
            model_name="outputpage",
            name="rank",
            field=models.PositiveIntegerField(db_default=0, default=0, help_text="place of its node in the run"),
        ),
    ]
