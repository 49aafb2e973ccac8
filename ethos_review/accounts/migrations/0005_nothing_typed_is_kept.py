"""Failed attempts from before keep nothing of what was typed either; it held passwords."""

from django.db import migrations


def forget_what_was_typed(apps, schema_editor):
    apps.get_model("axes", "AccessAttempt").objects.update(get_data="", post_data="")


class Migration(migrations.Migration):
    dependencies = [("accounts", "0004_password_links"), ("axes", "0010_accessattemptexpiration")]

    operations = [migrations.RunPython(forget_what_was_typed, migrations.RunPython.noop)]
