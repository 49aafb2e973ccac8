"""A real browser against the real product; what its console or the security policy complains about fails the test."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page

from ethos_review.accounts.models import User
from tests.web.world import World, make_world

# Playwright's synchronous interface runs an event loop in this thread, which Django takes for asynchronous code.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"

ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
# The browser reports every refusal of the server on its console; those that a test means to get are no fault.
EXPECTED = re.compile(r"Failed to load resource: the server responded with a status of 4(00|03|04|09|22|29) ")

Visit = Callable[..., Page]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def browser_type_launch_args() -> dict[str, Any]:
    script = Path(__file__).with_name("ensure-chromium")
    found = subprocess.run(
        [script], capture_output=True, text=True, check=False, env={**os.environ, "PYTHON": sys.executable}
    )
    if found.returncode:
        pytest.fail(found.stderr)
    return {"executable_path": found.stdout.strip().splitlines()[-1], "args": list(ARGUMENTS)}


@pytest.fixture
def world(request: pytest.FixtureRequest, live_server: Any) -> World:
    """Every sample review, or those that `@pytest.mark.parametrize("world", [(…)], indirect=True)` names."""
    return make_world(*getattr(request, "param", ()))


@pytest.fixture
def complaints() -> list[str]:
    """Of browsers, so far. A test that provokes one on purpose takes it out."""
    return []


@pytest.fixture
def visit(browser: Browser, live_server: Any, complaints: list[str]) -> Iterator[Visit]:
    """Open a page as a person, in a browser context of its own."""
    contexts: list[BrowserContext] = []

    def open_page(
        path: str = "/", person: User | None = None, *, width: int = 1280, height: int = 900, **context: Any
    ) -> Page:
        contexts.append(
            browser.new_context(
                base_url=live_server.url, viewport={"width": width, "height": height}, **context
            )
        )
        contexts[-1].set_default_timeout(10_000)  # milliseconds
        if person is not None:
            contexts[-1].add_cookies([session_cookie(person, live_server.url)])
        page = contexts[-1].new_page()
        page.on("console", lambda message: note(message))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(path)
        return page

    def note(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and not EXPECTED.match(message.text):
            complaints.append(message.text)

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []


def session_cookie(person: User, url: str) -> Any:
    client = Client()
    client.force_login(person)
    return {
        "name": settings.SESSION_COOKIE_NAME,
        "value": client.cookies[settings.SESSION_COOKIE_NAME].value,
        "url": url,
    }
