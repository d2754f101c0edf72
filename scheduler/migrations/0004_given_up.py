"""Decisions that were taken back while a victim's fate is open."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("scheduler", "0003_session_that_ended_holds_nothing"),
    ]

    operations = [
        migrations.CreateModel(
            name="GivenUp",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("cause", models.CharField(max_length=64)),
                (
                    "decision",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="given_up",
                        to="scheduler.decision",
                    ),
                ),
            ],
        ),
    ]
