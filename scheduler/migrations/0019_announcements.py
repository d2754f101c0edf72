from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("scheduler", "0018_names_of_tables")]

    operations = [
        migrations.CreateModel(
            name="Announcement",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("text", models.CharField(max_length=500)),
                (
                    "tone",
                    models.CharField(
                        choices=[("info", "Info"), ("warning", "Warning")], default="info", max_length=8
                    ),
                ),
                ("made_at", models.DateTimeField()),
                ("made_by_name", models.CharField(max_length=150)),
                ("until", models.DateTimeField(help_text="empty = until it is ended", null=True)),
                ("ended_at", models.DateTimeField(help_text="empty = nobody has ended it", null=True)),
            ],
            options={
                "ordering": ["-id"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("text", ""), _negated=True), name="announcement_says_something"
                    )
                ],
            },
        ),
    ]
