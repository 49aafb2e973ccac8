"""The rows of spec 6.1 and 6.2 that need the whole product: SQLite, and PostgreSQL where there is a server."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import tempfile
from pathlib import Path

import psycopg

from ethos_review.engine.envelope import write_key

POSTGRES_URL = os.environ.get("POSTGRES_URL", "postgres://postgres@127.0.0.1:5432/postgres")
POSTGRES_DATABASE = "ethos_review_bench"


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="ethos-review-bench-") as name:
        directory = Path(name)
        measure("SQLite", f"sqlite:///{directory / 'bench.sqlite3'}", directory)
    try:
        with psycopg.connect(POSTGRES_URL, autocommit=True) as server, tempfile.TemporaryDirectory() as name:
            server.execute(f"DROP DATABASE IF EXISTS {POSTGRES_DATABASE} WITH (FORCE)")
            server.execute(f"CREATE DATABASE {POSTGRES_DATABASE}")
            measure("PostgreSQL", f"{POSTGRES_URL.rsplit('/', 1)[0]}/{POSTGRES_DATABASE}", Path(name))
            server.execute(f"DROP DATABASE {POSTGRES_DATABASE} WITH (FORCE)")
    except psycopg.OperationalError as missing:
        print(f"\nPostgreSQL was not measured: {missing}")


def measure(title: str, database_url: str, directory: Path) -> None:
    """In a process of its own, because settings are read once."""
    print(f"\n{title}", flush=True)
    write_key(directory / "signing.pem")
    environment = {
        **os.environ,
        "DATABASE_URL": database_url,
        "DJANGO_SETTINGS_MODULE": "ethos_review.settings",
        "ETHOS_REVIEW_SECRET_KEY": secrets.token_urlsafe(64),
        "ETHOS_REVIEW_SIGNING_KEY_FILE": str(directory / "signing.pem"),
        "ETHOS_REVIEW_STATIC_ROOT": str(directory / "static"),
        "ETHOS_REVIEW_PLAIN_HTTP": "1",
        "ETHOS_REVIEW_HOSTS": "127.0.0.1,testserver",
    }
    subprocess.run([sys.executable, "-m", "bench._reviews"], env=environment, check=True)


if __name__ == "__main__":
    main()
