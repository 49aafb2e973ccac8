"""Working through the queue beside a colleague, and uploading files one by one or by dropping them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from ethos_review.reviews import operations
from ethos_review.reviews.models import Document, ReviewLease
from tests.browser.conftest import Visit
from tests.browser.pages import SCREENSHOTS
from tests.browser.test_pages import SIZES, fill_uploads, violations
from tests.factories import decide_as_shown, large_bundle
from tests.web.world import World

PUMP = operations.SAMPLE / "02-pump-maintenance"


def drop(page: Page, *files: Path) -> None:
    """As dragging them from a folder onto the page does."""
    named = [{"name": file.name, "text": file.read_text("utf-8")} for file in files]
    transfer = page.evaluate_handle(
        """files => {
          const transfer = new DataTransfer();
          for (const { name, text } of files) transfer.items.add(new File([text], name, { type: "application/json" }));
          return transfer;
        }""",
        named,
    )
    page.dispatch_event("form.upload", "drop", {"dataTransfer": transfer})


def looks_right(page: Page, name: str) -> None:
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        for size, width in SIZES.items():
            page.set_viewport_size({"width": width, "height": 900})
            page.screenshot(path=SCREENSHOTS / f"{name}-{scheme}-{size}.png", full_page=True)
            assert violations(page) == "", f"{scheme}, {size}"
            assert page.evaluate("document.documentElement.scrollWidth") <= width, size


@pytest.mark.parametrize("script", [True, False], ids=["with JavaScript", "without JavaScript"])
def test_two_people_who_ask_for_the_next_review_get_two(visit: Visit, world: World, script: bool) -> None:
    mine = visit("/", world.reviewer, java_script_enabled=script)
    theirs = visit("/", world.colleague, java_script_enabled=script)
    for page in (mine, theirs):
        page.get_by_role("button", name="Next review for me").click()
        page.wait_for_url("**/reviews/**")
    assert mine.url.split("?")[0] != theirs.url.split("?")[0]
    assert {lease.holder for lease in ReviewLease.objects.all()} == {world.reviewer, world.colleague}

    theirs.goto("/")
    expect(theirs.locator("#queue")).to_contain_text("reviewer is here")


def test_the_keys_go_from_one_review_to_the_next(visit: Visit, world: World) -> None:
    page = visit("/", world.reviewer)
    seen = set()
    for _ in range(3):
        page.locator("#main").focus()
        with page.expect_navigation():
            page.keyboard.press("g")
            page.keyboard.press("n")
        page.wait_for_url("**/reviews/**")
        seen.add(page.url)
    assert len(seen) == 3
    assert ReviewLease.objects.count() == 1


@pytest.mark.parametrize("world", [("10-lift-offer",)], indirect=True)
def test_a_review_that_a_colleague_holds_is_taken_over_in_place(visit: Visit, world: World) -> None:
    visit(world.page("10-lift-offer"), world.colleague)
    page = visit(world.page("10-lift-offer"), world.reviewer)
    expect(page.locator("#presence")).to_contain_text("reviewer2 is here")
    page.get_by_role("button", name="Take over").click()
    expect(page.locator("#presence")).to_contain_text("Colleagues see that you are at work here")
    expect(page.locator("#presence")).to_be_focused()
    assert ReviewLease.objects.get().holder == world.reviewer


@pytest.mark.parametrize("script", [True, False], ids=["with JavaScript", "without JavaScript"])
def test_the_filter_narrows_the_queue_and_stays_in_the_address(
    visit: Visit, world: World, script: bool
) -> None:
    page = visit("/?tab=all", world.reviewer, java_script_enabled=script)
    page.get_by_label("Search question and claims").fill("LIFT")
    page.get_by_label("Order").select_option("Most undecided first")
    page.get_by_role("button", name="Show").click()
    page.wait_for_url("**text=LIFT**")
    rows = page.locator(".row")
    assert 0 < rows.count() < len(world.reviews)
    page.get_by_role("link", name="Needs me").click()
    page.wait_for_url("**tab=needs_me**")
    assert "text=LIFT" in page.url
    assert "sort=undecided" in page.url


def test_the_filtered_queue_and_its_empty_list_look_right(visit: Visit, world: World) -> None:
    looks_right(
        visit("/?tab=all&verdict=contradicts&since=x&parser=e&text=the", world.reviewer), "queue-filtered"
    )
    looks_right(visit("/?text=nothing+has+this", world.reviewer), "queue-filtered-empty")


def test_the_insights_look_right(visit: Visit, world: World) -> None:
    decide_as_shown(world.reviewer, world.reviews["10-lift-offer"], 6, "approve")
    decide_as_shown(world.reviewer, world.reviews["10-lift-offer"], 2, "block", "The offer says otherwise.")
    looks_right(visit("/insights/?days=7", world.reviewer), "insights")


def test_a_chosen_file_is_recognised_at_once(visit: Visit, world: World) -> None:
    page = visit("/upload/", world.submitter)
    before = Document.objects.count()
    page.set_input_files("#verification_report", PUMP / "verification-report.json")
    expect(page.locator("#file-verification_report")).to_contain_text("verification report 1.1.0")
    expect(page.locator("#file-verification_report")).to_contain_text("SHA-256")
    page.set_input_files("#claims", PUMP / "readings.json")
    expect(page.locator("#file-claims")).to_contain_text("Choose it as readings")
    looks_right(page, "upload-recognised")
    page.set_input_files("#claims", [])
    expect(page.locator("#file-claims")).to_be_empty()
    assert Document.objects.count() == before


def test_only_the_chosen_file_travels_to_be_recognised(visit: Visit, world: World) -> None:
    page = visit("/upload/", world.submitter)
    page.set_input_files("#claims", PUMP / "claims.json")
    expect(page.locator("#file-claims")).to_contain_text("claims, ")
    with page.expect_request("**/upload/recognise/readings/") as sent:
        page.set_input_files("#readings", PUMP / "readings.json")
    expect(page.locator("#file-readings")).to_contain_text("readings, ")
    length = int(sent.value.all_headers()["content-length"])
    assert length < (PUMP / "readings.json").stat().st_size + 1_000


def test_dropped_files_go_where_they_belong(visit: Visit, world: World, tmp_path: Path) -> None:
    other = tmp_path / "shopping.json"
    other.write_text(json.dumps({"milk": 2}))
    page = visit("/upload/", world.submitter)
    files = [PUMP / "readings.json", other, PUMP / "claims.json", PUMP / "verification-report.json"]
    drop(page, *files)
    for role in ("verification_report", "claims", "readings"):
        expect(page.locator(f"#file-{role}")).to_contain_text("Recognised")
    expect(page.locator("#dropped")).to_contain_text("shopping.json: 1 problem in this file.")
    looks_right(page, "upload-dropped")
    page.get_by_role("button", name="Check only").click()
    expect(page.get_by_role("heading", name="Accepted; nothing was stored")).to_be_visible()
    expect(page.locator("#existing")).to_contain_text("These bytes already have a review")
    drop(page, other)  # what was said of other files is not left beside this one
    expect(page.locator("#upload-result")).to_be_empty()
    page.get_by_role("button", name="Check only").click()
    expect(page.get_by_role("heading", name="Accepted; nothing was stored")).to_be_visible()
    page.set_input_files("#claims", other)
    expect(page.locator("#upload-result")).to_be_empty()


def test_a_large_upload_shows_how_far_it_is(visit: Visit, world: World, tmp_path: Path) -> None:
    bundle = tmp_path / "bundle.json"
    bundle.write_bytes(large_bundle(3_000)[0].content)
    page = visit("/upload/", world.submitter)
    page.set_input_files("#bundle", bundle)
    expect(page.locator("#file-bundle")).to_contain_text("3,000 checks")
    page.evaluate(
        """() => {
          window.told = [];
          const note = () => window.told.push(document.querySelector("#sent-words").textContent);
          new MutationObserver(note).observe(document.querySelector("#sent-words"), { childList: true });
        }"""
    )
    network: Any = page.context.new_cdp_session(page)
    network.send(
        "Network.emulateNetworkConditions",
        {
            "offline": False,
            "latency": 0,
            "downloadThroughput": -1,
            "uploadThroughput": bundle.stat().st_size / 1.5,
        },
    )
    page.get_by_role("button", name="Check only").click()
    expect(page.get_by_role("heading", name="Accepted; nothing was stored")).to_be_visible(timeout=30_000)
    told = page.evaluate("window.told")
    assert any(words.startswith("Sending: ") for words in told), told
    assert told[-1] == "Checking …"
    expect(page.locator("#sending")).to_be_hidden()


@pytest.mark.parametrize("world", [("02-pump-maintenance",)], indirect=True)
def test_a_check_is_read_by_keys(visit: Visit, world: World) -> None:
    page = visit("/upload/", world.submitter)
    fill_uploads(page, PUMP.name)
    page.get_by_role("button", name="Check only").click()
    expect(page.locator("#upload-result")).to_be_focused()
    first, second = (card.get_attribute("id") for card in page.locator(".card").all()[:2])
    for key, place in (("j", first), ("j", second), ("k", first)):
        page.keyboard.press(key)
        expect(page.locator(f"#{place}")).to_be_focused()
    for is_open in (True, False):
        page.keyboard.press("Enter")
        expect(page.locator(f"#{first}-body")).to_be_visible(visible=is_open)
    for key in "abru":
        page.keyboard.press(key)
        expect(page.locator(f"#{first}")).to_be_focused()
    assert page.url.endswith("/upload/")


@pytest.mark.parametrize("world", [("02-pump-maintenance",)], indirect=True)
def test_a_check_is_read_without_javascript(visit: Visit, world: World) -> None:
    page = visit("/upload/", world.submitter, java_script_enabled=False)
    fill_uploads(page, PUMP.name)
    page.get_by_role("button", name="Check only").click()
    card = page.locator("article.needs_review")
    expect(card.locator(".card-body")).to_be_hidden()
    card.locator("summary").first.click()
    expect(card.locator(".card-body")).to_contain_text("Needs review: a person decides.")
