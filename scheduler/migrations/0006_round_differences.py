"""Rounds are stored as differences to the last whole snapshot, with all their decisions in short."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("scheduler", "0005_claims"),
    ]

    operations = [
        migrations.AddField(
            model_name="round",
            name="base",
            field=models.ForeignKey(
                help_text="whose snapshot this one is a difference to; null = whole",
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="differences",
                to="scheduler.round",
            ),
        ),
        migrations.AddField(
            model_name="round",
            name="outline",
            field=models.BinaryField(help_text="zlib of JSON: all decisions in short", null=True),
        ),
        migrations.AlterField(
            model_name="round",
            name="snapshot",
            field=models.BinaryField(
                help_text="zlib of the canonical JSON, or of the difference to base; null = not kept any more",
                null=True,
            ),
        ),
    ]
