"""The row that every writer of events locks."""

from django.db import migrations

GENESIS = "0" * 64  # what the first event names as the digest before it


def create_chain_head(apps, schema_editor):
    apps.get_model("audit", "ChainHead").objects.get_or_create(id=1, defaults={"length": 0, "sha256": GENESIS})


class Migration(migrations.Migration):
    dependencies = [("audit", "0001_initial")]

    operations = [migrations.RunPython(create_chain_head, migrations.RunPython.noop)]
