from __future__ import annotations

import os
import re
import socket
import stat
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from urllib.error import URLError

import pytest

from ethos_review import demo

USERNAMES = {"submitter", "reviewer", "reviewer2", "auditor", "operator"}


def run(directory: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "ethos_review.demo", "--directory", str(directory), *options]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


def manage(directory: Path, code: str) -> str:
    """What a program prints that looks at the prepared database."""
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "ethos_review.settings",
        "DATABASE_URL": f"sqlite:///{directory / 'ethos_review.sqlite3'}",
        "ETHOS_REVIEW_SECRET_KEY_FILE": str(directory / "secret-key"),
        "ETHOS_REVIEW_SIGNING_KEY_FILE": str(directory / "signing-key.pem"),
        "ETHOS_REVIEW_PLAIN_HTTP": "1",
    }
    done = subprocess.run(
        [sys.executable, "-c", f"import django; django.setup(); {code}"],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
        timeout=60,
    )
    return done.stdout.strip()


def accounts(directory: Path) -> dict[str, str]:
    return dict(line.split() for line in (directory / "accounts.txt").read_text().splitlines())


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    directory = tmp_path_factory.mktemp("parent") / "demo"
    done = run(directory, "--no-serve")
    assert done.returncode == 0, done.stderr
    return directory, done.stdout


def test_it_prints_the_accounts_and_keeps_them(prepared: tuple[Path, str]) -> None:
    directory, said = prepared

    assert accounts(directory).keys() == USERNAMES
    for username, password in accounts(directory).items():
        assert re.search(rf"^ +{username} +{password} ", said, re.MULTILINE)
        assert len(password) == 16
    assert len(set(accounts(directory).values())) == len(USERNAMES)


def test_everyone_has_a_name_to_be_told_apart_by(prepared: tuple[Path, str]) -> None:
    directory, _ = prepared
    code = (
        "from ethos_review.accounts.models import User; "
        "print(*User.objects.order_by('display_name').values_list('display_name', flat=True), sep=', ')"
    )
    assert manage(directory, code) == "Auditor, Operator, Reviewer, Second reviewer, Submitter"


@pytest.mark.parametrize("name", ["accounts.txt", "secret-key", "signing-key.pem"])
def test_secrets_are_for_their_owner_only(prepared: tuple[Path, str], name: str) -> None:
    directory, _ = prepared

    assert stat.S_IMODE((directory / name).stat().st_mode) == 0o600
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700


def test_the_sample_is_submitted_and_the_chain_is_whole(prepared: tuple[Path, str]) -> None:
    directory, _ = prepared

    said = manage(directory, "from django.core.management import call_command; call_command('verify_audit')")

    assert re.fullmatch(r"(\d+) events and \1 reviews are what the chain says\. .*", said)


def test_running_it_again_changes_nothing(prepared: tuple[Path, str]) -> None:
    directory, _ = prepared
    code = (
        "from ethos_review.reviews.models import Review; from ethos_review.accounts.models import User; "
        "print(Review.objects.count(), *User.objects.order_by('id').values_list('username', 'password'))"
    )
    before = accounts(directory), manage(directory, code), (directory / "signing-key.pem").read_bytes()

    again = run(directory, "--no-serve")

    assert again.returncode == 0, again.stderr
    after = accounts(directory), manage(directory, code), (directory / "signing-key.pem").read_bytes()
    assert after == before


def has_password(directory: Path, username: str, password: str) -> bool:
    found = f"User.objects.get(username={username!r}).check_password({password!r})"
    return manage(directory, f"from ethos_review.accounts.models import User; print({found})") == "True"


def test_a_changed_password_stays_and_is_said_to_be_changed(tmp_path: Path) -> None:
    directory = tmp_path / "demo"
    run(directory, "--no-serve")
    first = accounts(directory)
    manage(
        directory,
        "from ethos_review.accounts.models import User; from ethos_review.accounts.operations import change_password; "
        "change_password(actor=User.objects.get(username='reviewer'), password='the heron by the weir')",
    )

    said = run(directory, "--no-serve").stdout

    assert has_password(directory, "reviewer", "the heron by the weir")
    assert re.search(r"^ +reviewer +changed +Reviewer$", said, re.MULTILINE)
    assert first["reviewer"] not in said
    assert first["auditor"] in said


def test_without_the_list_everyone_gets_a_new_password(tmp_path: Path) -> None:
    directory = tmp_path / "demo"
    run(directory, "--no-serve")
    (directory / "accounts.txt").unlink()

    said = run(directory, "--no-serve").stdout

    assert accounts(directory)["reviewer"] in said
    assert has_password(directory, "reviewer", accounts(directory)["reviewer"])


def test_the_environment_does_not_lead_it_elsewhere(
    prepared: tuple[Path, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    directory, _ = prepared
    monkeypatch.setenv("DATABASE_URL", f"sqlite:///{tmp_path / 'other.sqlite3'}")
    monkeypatch.setenv("DJANGO_SETTINGS_MODULE", "nowhere.settings")
    monkeypatch.setenv("ETHOS_REVIEW_POLICY_FILE", "/nowhere/policy.json")

    assert run(directory, "--no-serve").returncode == 0
    assert not (tmp_path / "other.sqlite3").exists()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def served(prepared: tuple[Path, str]) -> Iterator[int]:
    directory, _ = prepared
    port = free_port()
    command = [sys.executable, "-m", "ethos_review.demo", "--directory", str(directory), "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as server:
        yield port
        server.terminate()
        server.communicate(timeout=30)


def ask(url: str) -> str:
    """The page, as soon as the server answers."""
    until = time.monotonic() + 60
    while True:
        try:
            with urllib.request.urlopen(url, timeout=10) as response:  # noqa: S310
                return str(response.read().decode())
        except URLError:
            if time.monotonic() > until:
                raise
            time.sleep(0.1)


def test_it_names_an_address_under_which_passkeys_work(capsys: pytest.CaptureFixture[str]) -> None:
    demo._say_what_to_do(Path("var"), {}, 8150)
    assert "Serving http://localhost:8150/ " in capsys.readouterr().out


def test_it_serves_the_sign_in_page(served: int) -> None:
    assert "Sign in" in ask(f"http://127.0.0.1:{served}/")


def test_a_port_in_use_is_said_before_anything_is_made(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]

        done = run(tmp_path / "demo", "--port", str(port))

    assert done.returncode == 1
    assert done.stderr.startswith(f"Port {port} cannot be used")
    assert "make demo PORT=8001" in done.stderr
    assert not (tmp_path / "demo").exists()


def test_a_port_that_is_none_is_said_too(tmp_path: Path) -> None:
    done = run(tmp_path / "demo", "--port", "70000")

    assert (done.returncode, "Traceback" in done.stderr) == (1, False)
