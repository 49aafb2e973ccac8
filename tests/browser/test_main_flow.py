"""The main job, end to end: sign in, decide, seal, download, verify; with JavaScript and without."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visit
from tests.browser.pages import SCREENSHOTS
from tests.web.people import PASSWORD
from tests.web.world import World

REVIEW = "10-lift-offer"
SYNTHESIS, OTHER_SYNTHESIS = 2, 6  # positions of the two claims that need a person
RATIONALE = "It concludes more than the offer says."


def keep(page: Page, name: str) -> None:
    scripted = "" if page.evaluate("'htmx' in window") else "-without-javascript"
    page.screenshot(path=SCREENSHOTS / f"main-flow{scripted}-{name}.png", full_page=True)


def sign_in(page: Page, name: str) -> None:
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()


def verify_as_printed(page: Page, folder: Path) -> str:
    """Download what the page says, into one folder, and run what it prints."""
    for link in ("Signed envelope", "Public key"):
        with page.expect_download() as download:
            page.get_by_role("link", name=link).click()
        download.value.save_as(folder / download.value.suggested_filename)
    command = shlex.split(page.locator(".command").inner_text())
    program = Path(sys.executable).with_name(command[0])
    done = subprocess.run([program, *command[1:]], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("world", [(REVIEW,)], indirect=True)
@pytest.mark.parametrize("script", [True, False], ids=["with JavaScript", "without JavaScript"])
def test_a_reviewer_decides_seals_downloads_and_verifies(
    visit: Visit, world: World, script: bool, tmp_path: Path
) -> None:
    page = visit("/", java_script_enabled=script)
    keep(page, "1-sign-in")
    sign_in(page, "reviewer")
    keep(page, "2-queue")
    page.get_by_role("link", name="What does offer L-2207").click()
    keep(page, "3-review")

    first = page.locator(f"#claim-{SYNTHESIS}")
    first.get_by_role("button", name="Block").click()
    expect(first.get_by_text("Write why, for those who read this decision later.")).to_be_visible()
    first.get_by_label("Rationale").fill(RATIONALE)
    first.get_by_role("button", name="Block").click()
    expect(first.locator(".decision")).to_contain_text(RATIONALE)
    expect(page.locator("#group-needs_review")).to_contain_text("1 of 2 left")

    second = page.locator(f"#claim-{OTHER_SYNTHESIS}")
    second.get_by_role("button", name="Approve").click()
    expect(second.locator(".decision")).to_contain_text("Approved by reviewer")
    expect(page.locator("#answer-preview .reviewed")).to_contain_text("The warranty of 36 months")
    expect(page.locator("#group-needs_review")).to_contain_text("0 of 2 left")
    keep(page, "4-decided")

    page.get_by_role("link", name="Seal and sign").click()
    keep(page, "5-last-look")
    page.get_by_role("button", name="Seal and sign").click()
    expect(page).to_have_url(page.url.replace("seal", "release"))
    expect(page.get_by_role("heading", name="Released 4")).to_be_visible()
    keep(page, "6-release")

    output = verify_as_printed(page, tmp_path)
    assert "partial" in output
