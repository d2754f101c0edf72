from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("scheduler", "0016_output_by_rank")]

    operations = [
        migrations.RemoveConstraint(model_name="outputpage", name="output_page_is_unique"),
        migrations.AddConstraint(
            model_name="outputpage",
            constraint=models.UniqueConstraint(
                fields=("session", "attempt", "rank", "offset"), name="output_page_is_unique_in_rank"
            ),
        ),
    ]
