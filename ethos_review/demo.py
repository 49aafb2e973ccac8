"""A trial on this machine: database, key, accounts and sample, made once and left alone afterwards; then the server."""

from __future__ import annotations

import argparse
import os
import secrets
import socket
import sys
from collections.abc import Sequence
from pathlib import Path

import django
from django.core.management import call_command

from ethos_review.accounts.roles import AUDITOR, OPERATOR, REVIEWER, SUBMITTER
from ethos_review.engine.envelope import write_key

PROJECT = Path(__file__).resolve().parent.parent
ROLE_OF = {
    "submitter": SUBMITTER,
    "reviewer": REVIEWER,
    "reviewer2": REVIEWER,
    "auditor": AUDITOR,
    "operator": OPERATOR,
}
SECOND = {"reviewer2": "Second reviewer"}  # everyone else is called like their role
UNMISTAKABLE = "abcdefghjkmnpqrstuvwxyz23456789"  # no two of these look alike
PASSWORD_LENGTH = 16
CHANGED = "changed"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m ethos_review.demo", description=__doc__)
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--no-serve", action="store_true", help="prepare everything and stop")
    parser.add_argument("--directory", type=Path, default=PROJECT / "var" / "demo")
    options = parser.parse_args(arguments)
    directory: Path = options.directory.resolve()
    if not options.no_serve:
        _refuse_used_port(options.port)
    _configure(directory)
    said = _prepare(directory)
    _say_what_to_do(directory, said, None if options.no_serve else options.port)
    if not options.no_serve:
        _serve(options.port)


def _refuse_used_port(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or error
            other = 8002 if port == 8001 else 8001
            sys.exit(f"Port {port} cannot be used ({reason}). Choose another one: make demo PORT={other}")


def _configure(directory: Path) -> None:
    """Everything in one directory that only its owner can enter; nothing of the surroundings decides."""
    directory.mkdir(parents=True, exist_ok=True)
    directory.chmod(0o700)
    secret_key = directory / "secret-key"
    if not secret_key.exists():
        _write_private(secret_key, secrets.token_urlsafe(64))
    for name in [name for name in os.environ if name.startswith("ETHOS_REVIEW_")]:
        del os.environ[name]
    os.environ.update(
        DJANGO_SETTINGS_MODULE="ethos_review.settings",
        DATABASE_URL=f"sqlite:///{directory / 'ethos_review.sqlite3'}",
        ETHOS_REVIEW_SECRET_KEY_FILE=str(secret_key),
        ETHOS_REVIEW_SIGNING_KEY_FILE=str(directory / "signing-key.pem"),
        ETHOS_REVIEW_STATIC_ROOT=str(directory / "static"),
        ETHOS_REVIEW_PLAIN_HTTP="1",
    )


def _prepare(directory: Path) -> dict[str, str]:
    """What to say of each account."""
    django.setup()
    from ethos_review.accounts.models import User
    from ethos_review.reviews.operations import load_sample

    call_command("migrate", verbosity=0)
    if not (directory / "signing-key.pem").exists():
        write_key(directory / "signing-key.pem")
    said = _make_accounts(directory / "accounts.txt")
    load_sample(actor=User.objects.get(username="submitter"))
    call_command("collectstatic", interactive=False, verbosity=0)
    return said


def _make_accounts(file: Path) -> dict[str, str]:
    """What to say of each account: its password, unless the person changed it.

    Passwords are written after they are set: one that is not in the file, because this was interrupted or the file
    was deleted, is made anew.
    """
    from django.contrib.auth.models import Group

    from ethos_review.accounts.models import User

    kept = dict(line.split() for line in file.read_text().splitlines()) if file.exists() else {}
    passwords = {username: kept.get(username) or _make_password() for username in ROLE_OF}
    said = {}
    for username, role in ROLE_OF.items():
        name = SECOND.get(username, role)
        user, _ = User.objects.get_or_create(username=username, defaults={"display_name": name})
        user.groups.add(Group.objects.get(name=role))
        if username not in kept or not user.password:
            user.set_password(passwords[username])
            user.save()
        said[username] = passwords[username] if user.check_password(passwords[username]) else CHANGED
    if passwords != kept:
        _write_private(file, "".join(f"{username} {password}\n" for username, password in passwords.items()))
    return said


def _make_password() -> str:
    return "".join(secrets.choice(UNMISTAKABLE) for _ in range(PASSWORD_LENGTH))


def _write_private(file: Path, content: str) -> None:
    """All of it or nothing, and never readable by others."""
    new = file.with_name(f"{file.name}.new")
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as opened:
        opened.write(content)
    new.replace(file)


def _say_what_to_do(directory: Path, passwords: dict[str, str], port: int | None) -> None:
    accounts = [
        f"  {username:<10} {password:<{PASSWORD_LENGTH}}   {ROLE_OF[username]}"
        for username, password in passwords.items()
    ]
    lines = [
        "",
        f"Accounts (kept in {directory / 'accounts.txt'}):",
        *accounts,
        "",
    ]
    if port is None:
        lines.append("Ready. Serve it with: make demo")
    else:
        lines += [
            f"Serving http://localhost:{port}/ (stop with Ctrl+C).",
            "Sign in as reviewer, open a review under “Needs me”, decide its claims, then seal it.",
            "The commands that the pages name are found after this, in another terminal:",
            f'  export PATH="{Path(sys.executable).parent}:$PATH"',
        ]
    sys.stdout.write("\n".join(lines) + "\n\n")
    sys.stdout.flush()


def _serve(port: int) -> None:
    gunicorn = ["-m", "gunicorn", "ethos_review.wsgi", "--bind", f"127.0.0.1:{port}"]
    options = ["--workers", "2", "--threads", "4", "--graceful-timeout", "3", "--log-level", "warning"]
    os.execv(sys.executable, [sys.executable, *gunicorn, *options])  # noqa: S606


if __name__ == "__main__":
    main()
