"""The product's own settings, each time in a fresh process."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
from pathlib import Path

import pytest

from ethos_review.engine.envelope import public_key_pem, write_key

PROJECT = Path(__file__).parents[1]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """What an operator sets, and nothing else."""
    secret_key, signing_key = tmp_path / "secret-key", tmp_path / "signing.pem"
    secret_key.write_text(secrets.token_urlsafe(64) + "\n")
    secret_key.chmod(0o600)
    write_key(signing_key)
    return {
        "PATH": os.environ["PATH"],
        "DATABASE_URL": f"sqlite:///{tmp_path / 'ethos_review.sqlite3'}",
        "ETHOS_REVIEW_SECRET_KEY_FILE": str(secret_key),
        "ETHOS_REVIEW_SIGNING_KEY_FILE": str(signing_key),
        "ETHOS_REVIEW_HOSTS": "review.example.org",
    }


def run(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=PROJECT,
        env=environment,
        timeout=60,
    )


def check(environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return run(environment, "-W", "error", "manage.py", "check", "--deploy", "--fail-level", "WARNING")


def test_the_deployment_check_is_silent(environment: dict[str, str]) -> None:
    done = check(environment)

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "System check identified no issues (0 silenced).\n"


def test_a_passphrase_from_a_private_file_opens_the_key(environment: dict[str, str], tmp_path: Path) -> None:
    passphrase = tmp_path / "passphrase"
    passphrase.write_text("correct horse\n")
    passphrase.chmod(0o600)
    write_key(tmp_path / "locked.pem", b"correct horse")
    environment |= {
        "ETHOS_REVIEW_SIGNING_KEY_FILE": str(tmp_path / "locked.pem"),
        "ETHOS_REVIEW_SIGNING_KEY_PASSPHRASE_FILE": str(passphrase),
    }

    assert check(environment).returncode == 0


def test_a_signer_by_uri_lets_it_start(environment: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "public.pem").write_bytes(public_key_pem(write_key(tmp_path / "signer.pem")))
    del environment["ETHOS_REVIEW_SIGNING_KEY_FILE"]
    environment |= {
        "ETHOS_REVIEW_SIGNING_KEY_URI": f"file2:{tmp_path / 'signer.pem'}",
        "ETHOS_REVIEW_SIGNING_PUBLIC_KEY_FILE": str(tmp_path / "public.pem"),
    }

    assert check(environment).returncode == 0


def test_a_key_in_the_environment_lets_it_start(environment: dict[str, str]) -> None:
    path = environment.pop("ETHOS_REVIEW_SIGNING_KEY_FILE")
    environment["ETHOS_REVIEW_SIGNING_KEY"] = Path(path).read_text()

    assert check(environment).returncode == 0


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("ETHOS_REVIEW_SECRET_KEY_FILE", None, "ETHOS_REVIEW_SECRET_KEY is missing"),
        ("ETHOS_REVIEW_SIGNING_KEY_FILE", None, "No signing key is configured"),
        ("ETHOS_REVIEW_SIGNING_KEY_FILE", "/nowhere/key.pem", "cannot be read"),
        ("ETHOS_REVIEW_SIGNING_KEY", "PEM", "More than one signing key is configured"),
        ("ETHOS_REVIEW_SIGNING_KEY_URI", "hsm:1", "More than one signing key is configured"),
        ("ETHOS_REVIEW_POLICY_FILE", "/nowhere/policy.json", "cannot be read"),
        ("ETHOS_REVIEW_VERIFIER_KEY_FILES", "/nowhere/key.pem", "cannot be read"),
    ],
)
@pytest.mark.parametrize("start", ["manage.py check", "-c import ethos_review.wsgi"])
def test_what_is_missing_stops_the_start_and_is_named(
    environment: dict[str, str], start: str, name: str, value: str | None, said: str
) -> None:
    environment.pop(name, None)
    if value is not None:
        environment[name] = value

    done = run(environment, *start.split(" ", 1))

    assert done.returncode != 0
    assert said in done.stderr


@pytest.mark.parametrize("command", ["check", "migrate", "runserver", "verify_audit"])
@pytest.mark.parametrize(
    ("secret_file", "said"),
    [
        (None, "ETHOS_REVIEW_SECRET_KEY is missing"),
        ("/nowhere/key", "ETHOS_REVIEW_SECRET_KEY_FILE, /nowhere/key,"),
    ],
)
def test_a_command_without_its_secret_says_so_in_one_line(
    environment: dict[str, str], command: str, secret_file: str | None, said: str
) -> None:
    del environment["ETHOS_REVIEW_SECRET_KEY_FILE"]
    if secret_file:
        environment["ETHOS_REVIEW_SECRET_KEY_FILE"] = secret_file

    done = run(environment, "manage.py", command)

    assert (done.returncode, done.stdout) == (1, "")
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith(f"manage.py: {said}")


def test_a_secret_that_others_can_read_stops_the_start(environment: dict[str, str]) -> None:
    Path(environment["ETHOS_REVIEW_SECRET_KEY_FILE"]).chmod(0o640)

    done = run(environment, "manage.py", "check")

    assert done.returncode != 0
    assert "chmod 600" in done.stderr


@pytest.mark.parametrize(
    "name", ["DATABASE_URL", "ETHOS_REVIEW_SIGNING_KEY_PASSPHRASE", "ETHOS_REVIEW_OIDC_CLIENT_SECRET"]
)
def test_every_other_secret_that_others_can_read_stops_the_start(
    environment: dict[str, str], tmp_path: Path, name: str
) -> None:
    (tmp_path / "secret").write_text(environment.pop(name, "a secret"))
    (tmp_path / "secret").chmod(0o644)
    environment[f"{name}_FILE"] = str(tmp_path / "secret")
    if "OIDC" in name:
        environment["ETHOS_REVIEW_OIDC_ISSUER"] = "https://id.example.org"

    done = run(environment, "manage.py", "check")

    assert done.returncode != 0
    assert f"{name}_FILE can be read by others" in done.stderr


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({}, "needs ETHOS_REVIEW_OIDC_CLIENT_ID and ETHOS_REVIEW_OIDC_CLIENT_SECRET"),
        ({"ETHOS_REVIEW_OIDC_CLIENT_ID": "x"}, "needs ETHOS_REVIEW_OIDC_CLIENT_ID"),
        (
            {
                "ETHOS_REVIEW_OIDC_CLIENT_ID": "x",
                "ETHOS_REVIEW_OIDC_CLIENT_SECRET": "y",
                "ETHOS_REVIEW_OIDC_ROLES": "staff=Emperor",
            },
            "names Emperor",
        ),
    ],
)
def test_an_openid_provider_that_is_half_configured_stops_the_start(
    environment: dict[str, str], settings: dict[str, str], said: str
) -> None:
    done = run(
        environment | settings | {"ETHOS_REVIEW_OIDC_ISSUER": "https://id.example.org"}, "manage.py", "check"
    )

    assert done.returncode != 0
    assert said in done.stderr


@pytest.mark.parametrize("minutes", ["0", "-1", "61"])
def test_a_confirmation_that_never_or_always_holds_stops_the_start(
    environment: dict[str, str], minutes: str
) -> None:
    done = run(environment | {"ETHOS_REVIEW_CONFIRMATION_MINUTES": minutes}, "manage.py", "check")

    assert done.returncode != 0
    assert "ETHOS_REVIEW_CONFIRMATION_MINUTES is a number from 1 to 60" in done.stderr


def test_a_key_can_be_made_before_there_is_one(environment: dict[str, str], tmp_path: Path) -> None:
    del environment["ETHOS_REVIEW_SIGNING_KEY_FILE"]

    done = run(environment, "manage.py", "create_signing_key", str(tmp_path / "new.pem"))

    assert done.returncode == 0, done.stderr
    assert (tmp_path / "new.pem").exists()


def test_the_migrations_are_those_of_the_models(environment: dict[str, str]) -> None:
    run(environment, "manage.py", "migrate", "--verbosity", "0")

    done = run(environment, "manage.py", "makemigrations", "--check", "--dry-run")

    assert (done.returncode, done.stdout) == (0, "No changes detected\n")
