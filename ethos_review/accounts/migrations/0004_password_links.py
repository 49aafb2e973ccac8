"""A link to choose a password is void once there is a newer one."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0003_people")]

    operations = [
        migrations.AddField(
            model_name="user",
            name="password_links",
            field=models.PositiveIntegerField(default=0),
        ),
    ]
