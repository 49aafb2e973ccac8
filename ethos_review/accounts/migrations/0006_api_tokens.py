"""Tokens by which programs act for an account."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.models import F, Q
from django.db.models.functions import Length
from django.db.models.lookups import Exact


class Migration(migrations.Migration):
    dependencies = [("accounts", "0005_nothing_typed_is_kept")]

    operations = [
        migrations.CreateModel(
            name="ApiToken",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=60)),
                ("key_id", models.CharField(max_length=16, unique=True)),
                ("secret_sha256", models.CharField(max_length=64, unique=True)),
                ("scopes", models.CharField(max_length=20)),
                ("created_at", models.DateTimeField()),
                ("expires_at", models.DateTimeField()),
                ("last_used_on", models.DateField(null=True)),
                ("revoked_at", models.DateTimeField(null=True)),
                (
                    "account",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="api_tokens",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "created_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "default_permissions": (),
                "constraints": [
                    models.CheckConstraint(condition=Exact(Length("key_id"), 16), name="token_key_id_length"),
                    models.CheckConstraint(condition=Exact(Length("secret_sha256"), 64), name="token_digest_length"),
                    models.CheckConstraint(condition=~Q(name=""), name="a_token_has_a_name"),
                    models.CheckConstraint(
                        condition=Q(scopes__in=("read", "read submit", "submit")), name="token_scopes_are_known"
                    ),
                    models.CheckConstraint(
                        condition=Q(expires_at__gt=F("created_at")), name="a_token_lives_before_it_expires"
                    ),
                ],
            },
        ),
    ]
