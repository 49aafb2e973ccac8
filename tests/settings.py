"""The product's settings with what a test run needs."""

from __future__ import annotations

import os
import secrets
import tempfile

os.environ.setdefault("ETHOS_REVIEW_SECRET_KEY", secrets.token_urlsafe(64))
os.environ.setdefault("ETHOS_REVIEW_PLAIN_HTTP", "1")

from ethos_review.settings import *  # noqa: F403
from ethos_review.settings import DATABASES

# A file, because threads of one process cannot wait for each other on a database in memory; one for each process.
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    DATABASES["default"]["TEST"] = {
        "NAME": f"{tempfile.gettempdir()}/ethos-review-tests-{os.getpid()}.sqlite3"
    }

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.InMemoryStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
STATIC_ROOT = f"{tempfile.gettempdir()}/ethos-review-tests-static"  # empty, but WhiteNoise wants it to exist
os.makedirs(STATIC_ROOT, exist_ok=True)
