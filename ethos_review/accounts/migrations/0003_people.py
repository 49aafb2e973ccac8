"""Signing out everywhere, and the operators' right to manage people."""

from django.db import migrations, models


def let_operators_manage_people(apps, schema_editor):
    ContentType = apps.get_model("contenttypes", "ContentType")
    Permission = apps.get_model("auth", "Permission")
    Group = apps.get_model("auth", "Group")
    content_type, _ = ContentType.objects.get_or_create(app_label="accounts", model="user")
    permission, _ = Permission.objects.get_or_create(
        content_type=content_type,
        codename="manage_people",
        defaults={"name": "Can give roles and close accounts"},
    )
    Group.objects.get(name="Operator").permissions.add(permission)


class Migration(migrations.Migration):
    dependencies = [("accounts", "0002_roles")]

    operations = [
        migrations.AlterModelOptions(
            name="user",
            options={
                "permissions": (("manage_people", "Can give roles and close accounts"),),
                "verbose_name": "user",
                "verbose_name_plural": "users",
            },
        ),
        migrations.AddField(
            model_name="user",
            name="sign_outs",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.RunPython(let_operators_manage_people, migrations.RunPython.noop),
    ]
