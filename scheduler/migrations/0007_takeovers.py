"""Which decisions a reservation has taken over with their stops."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("scheduler", "0006_round_differences"),
    ]

    operations = [
        migrations.AddField(
            model_name="reservation",
            name="inherits",
            field=models.ManyToManyField(
                help_text="decisions taken over with their stops",
                related_name="passed_to",
                to="scheduler.decision",
            ),
        ),
    ]
