"""What holds for every page: no violation of axe, no sideways scrolling, light to load; and a picture is kept."""

from __future__ import annotations

from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, Response, expect

from ethos_review.reviews import operations
from ethos_review.reviews.models import Release
from tests.browser.conftest import Visit
from tests.browser.pages import PAGES, SCREENSHOTS
from tests.factories import decide_as_shown
from tests.web.world import World

SIZES = {
    "wide": 1360,
    "middle": 768,
    "narrow": 320,
}  # CSS pixels; 320 is also a 1280 pixel wide window at 400 % zoom
HEAVIEST = 150_000  # bytes of one page, uncached (spec 6.4)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_accessible_and_fits_in_light_and_dark_and_wide_and_narrow(
    visit: Visit, world: World, name: str
) -> None:
    page = visit(PAGES[name].path(world), PAGES[name].who(world))
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        for size, width in SIZES.items():
            page.set_viewport_size({"width": width, "height": 900})
            page.screenshot(path=SCREENSHOTS / f"{name}-{scheme}-{size}.png", full_page=True)
            assert violations(page) == "", f"{scheme}, {size}"
            assert page.evaluate("document.documentElement.scrollWidth") <= width, size


@pytest.mark.parametrize(
    "name", ["people", "tokens", "keys", "insights", "audit", "review-unsettled", "release"]
)
def test_nothing_of_a_table_or_command_is_cut_off_on_a_phone(visit: Visit, world: World, name: str) -> None:
    page = visit(PAGES[name].path(world), PAGES[name].who(world))
    page.set_viewport_size({"width": 360, "height": 900})
    cut = """[...document.querySelectorAll(".scroll, .command, td, td a")]
        .filter((element) => element.checkVisibility() && element.clientWidth)
        .filter((element) => element.scrollWidth > element.clientWidth)
        .map((element) => element.textContent.trim().slice(0, 60))"""
    assert page.evaluate(cut) == []


LINES = """(selector) => [...document.querySelectorAll(selector)].map((element) => {
  const text = document.createRange();
  text.selectNodeContents(element);
  return text.getBoundingClientRect().bottom;
})"""
TOPS = "(selector) => [...document.querySelectorAll(selector)].map((element) => element.getBoundingClientRect().top)"


@pytest.mark.parametrize("world", [("10-lift-offer",)], indirect=True)
def test_what_stands_side_by_side_stands_on_one_line(visit: Visit, world: World) -> None:
    page = visit(world.page("10-lift-offer"), world.reviewer)
    assert len(set(page.evaluate(LINES, ".who > a, .who bdi, .who button"))) == 1
    assert len(set(page.evaluate(LINES, ".facts dt:has(+ dd > a), .facts dd > a"))) == 1
    tops = page.evaluate(TOPS, ".group:first-child .group-heading, #progress")
    assert (len(tops), len(set(tops))) == (2, 1)


def violations(page: Page) -> str:
    found = Axe().run(page)
    return found.generate_report() if found.violations_count else ""


@pytest.mark.parametrize("name", ["queue", "upload", "review-partial", "release", "audit"])
def test_a_page_weighs_little(visit: Visit, world: World, name: str) -> None:
    page = visit("/sign-in/", PAGES[name].who(world))
    bodies: list[int] = []

    def weigh(response: Response) -> None:
        bodies.append(len(response.body()))

    page.on("response", weigh)
    page.goto(PAGES[name].path(world), wait_until="networkidle")
    assert 0 < sum(bodies) <= HEAVIEST


def fill_uploads(page: Page, folder: str, **replaced: Path) -> None:
    for upload in operations.sample_uploads(operations.SAMPLE / folder):
        path = replaced.get(upload.role, operations.SAMPLE / folder / upload.name)
        page.set_input_files(f"#{upload.role}", path)


def both_schemes(page: Page, name: str) -> None:
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.screenshot(path=SCREENSHOTS / f"{name}-{scheme}-wide.png", full_page=True)
        assert violations(page) == "", scheme


def test_checking_only_shows_the_decision_below_the_chosen_files(visit: Visit, world: World) -> None:
    page = visit("/upload/", world.submitter)
    fill_uploads(page, "02-pump-maintenance")
    page.get_by_role("button", name="Check only").click()
    expect(page.get_by_role("heading", name="Accepted; nothing was stored")).to_be_visible()
    expect(page.locator("#upload-result")).to_be_focused()
    expect(page.locator("#announcement")).to_have_text(
        "Accepted; nothing was stored. Needs review: 1. Final: 3. Blocked: 1."
    )
    both_schemes(page, "upload-checked")
    page.locator("#claim-0-toggle").click()
    expect(page.locator("#claim-0-body")).to_be_visible()
    both_schemes(page, "upload-checked-open")
    page.set_viewport_size({"width": SIZES["narrow"], "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") <= SIZES["narrow"]


def test_problems_of_an_upload_are_listed_below_the_chosen_files(
    visit: Visit, world: World, tmp_path: Path
) -> None:
    claims = (operations.SAMPLE / "02-pump-maintenance" / "claims.json").read_text("utf-8")
    bad = tmp_path / "claims.json"
    bad.write_text(claims.replace('"claim_type"', '"claimtype"'), "utf-8")
    page = visit("/upload/", world.submitter)
    fill_uploads(page, "02-pump-maintenance", claims=bad)
    page.get_by_role("button", name="Submit for review").click()
    expect(page.get_by_text("Did you mean claim_type?").first).to_be_visible()
    expect(page.locator("#announcement")).to_contain_text("Nothing was stored.")
    both_schemes(page, "upload-refused")


def test_a_good_upload_leads_to_its_review(visit: Visit, world: World) -> None:
    page = visit("/upload/", world.submitter)
    fill_uploads(page, "02-pump-maintenance")
    page.get_by_role("button", name="Submit for review").click()
    expect(page.get_by_text("These bytes were submitted before")).to_be_visible()
    assert world.page("02-pump-maintenance") in page.url


def test_a_lost_race_is_accessible(visit: Visit, world: World) -> None:
    page = visit(f"{world.page('10-lift-offer')}?claim=6", world.reviewer)
    page.locator("#claim-6-rationale").fill("I compared it with the tender.")
    decide_as_shown(
        world.colleague, world.reviews["10-lift-offer"], 6, "block", "The tender says nothing of 24 months."
    )
    page.locator("#claim-6 [value=approve]").click()
    expect(page.locator("#claim-6-obstacle")).to_be_focused()
    both_schemes(page, "review-conflict")


def test_a_missing_rationale_is_accessible(visit: Visit, world: World) -> None:
    page = visit(f"{world.page('10-lift-offer')}?claim=6", world.reviewer)
    page.locator("#claim-6 [value=block]").click()
    expect(page.locator("#claim-6-rationale")).to_be_focused()
    both_schemes(page, "review-rationale-missing")


def test_the_list_of_shortcuts_is_accessible(visit: Visit, world: World) -> None:
    page = visit("/", world.reviewer)
    page.keyboard.press("?")
    expect(page.get_by_role("heading", name="Keyboard shortcuts")).to_be_visible()
    both_schemes(page, "shortcuts")


def test_a_button_one_may_not_use_is_focusable_and_says_why(visit: Visit, world: World) -> None:
    page = visit(world.page("10-lift-offer"), world.reviewer)
    page.locator("#seal").focus()
    expect(page.locator("#seal")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#announcement")).to_have_text("2 claims are still undecided.")


def test_a_release_is_verified_below_its_file(visit: Visit, world: World, tmp_path: Path) -> None:
    envelope = tmp_path / "release.dsse.json"
    envelope.write_bytes(bytes(Release.objects.get().envelope))
    page = visit("/verify/", world.auditor)
    page.set_input_files("#envelope", envelope)
    page.get_by_role("button", name="Verify").click()
    expect(page.get_by_text("It equals, byte for byte, what was sealed here")).to_be_visible()
    expect(page.locator("#verify-result")).to_be_focused()
    expect(page.locator("#announcement")).to_have_text("Valid.")
    both_schemes(page, "verify-valid")
    page.set_input_files("#envelope", [])
    page.locator("#text").fill(envelope.read_text().replace('"payload":"e', '"payload":"f'))
    page.get_by_role("button", name="Verify").click()
    expect(page.get_by_role("heading", name="Not valid")).to_be_visible()
    both_schemes(page, "verify-refused")
