"""The four roles as groups with named permissions."""

from django.db import migrations

# Django makes permissions only after the last migration; the ones that a role names are made here, with the
# names that Django would give them.
PERMISSIONS = {
    "reviews.view_review": ("review", "Can view review"),
    "reviews.submit_review": ("review", "Can submit a review"),
    "reviews.view_every_review": ("review", "Can see reviews that others submitted"),
    "reviews.decide_claim": ("review", "Can approve and block claims"),
    "reviews.seal_review": ("review", "Can seal and sign a review"),
    "audit.view_event": ("event", "Can view event"),
}
ROLES = {
    "Submitter": ["reviews.submit_review", "reviews.view_review"],
    "Reviewer": [
        "reviews.view_review",
        "reviews.view_every_review",
        "reviews.decide_claim",
        "reviews.seal_review",
    ],
    "Auditor": ["reviews.view_review", "reviews.view_every_review", "audit.view_event"],
    "Operator": ["reviews.view_review", "reviews.view_every_review", "audit.view_event"],
}


def create_roles(apps, schema_editor):
    ContentType = apps.get_model("contenttypes", "ContentType")
    Permission = apps.get_model("auth", "Permission")
    Group = apps.get_model("auth", "Group")
    permissions = {}
    for label, (model, name) in PERMISSIONS.items():
        app_label, codename = label.split(".")
        content_type, _ = ContentType.objects.get_or_create(app_label=app_label, model=model)
        permissions[label], _ = Permission.objects.get_or_create(
            content_type=content_type, codename=codename, defaults={"name": name}
        )
    for role, labels in ROLES.items():
        group, _ = Group.objects.get_or_create(name=role)
        group.permissions.add(*(permissions[label] for label in labels))


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0001_initial"),
        ("audit", "0001_initial"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
        ("reviews", "0001_initial"),
    ]

    operations = [migrations.RunPython(create_roles, migrations.RunPython.noop)]
