"""A review whose stored documents were changed, as people see it."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from ethos_review.reviews import assessments
from ethos_review.reviews.models import Document
from tests.browser.conftest import Visit
from tests.browser.pages import SCREENSHOTS
from tests.browser.test_pages import violations
from tests.reviews.test_commands import change, flipped
from tests.web.world import SEALED, World

OPEN = "10-lift-offer"


def change_claims(world: World, folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    document = Document.objects.with_content().get(review__review_id=world.reviews[folder], role="claims")
    change(Document, "content", flipped(bytes(document.content)), f"id = {document.pk}")
    monkeypatch.setattr(assessments, "_cache", assessments._Cache(0))


@pytest.mark.parametrize("world", [(OPEN,)], indirect=True)
def test_an_open_review_says_which_document_changed(
    visit: Visit, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    change_claims(world, OPEN, monkeypatch)
    page = visit(world.page(OPEN), world.reviewer)
    expect(page.locator("#unreadable")).to_contain_text("claims.json is not what was received")
    for scheme in ("light", "dark"):
        for size, width in (("wide", 1360), ("narrow", 320)):
            page.emulate_media(color_scheme=scheme)
            page.set_viewport_size({"width": width, "height": 900})
            page.screenshot(path=SCREENSHOTS / f"unreadable-{scheme}-{size}.png", full_page=True)
            assert violations(page) == "", f"{scheme}, {size}"
            assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("world", [(SEALED,)], indirect=True)
def test_a_sealed_review_leads_to_what_differs(
    visit: Visit, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = visit(world.page(SEALED), world.reviewer)
    change_claims(world, SEALED, monkeypatch)
    page.locator("#claim-3-toggle").click()
    page.wait_for_url(f"**{world.page(SEALED, 'replay')}")
    expect(page.locator("#replay-result")).to_contain_text("“claims.json” is not the one uploaded.")
    page.screenshot(path=SCREENSHOTS / "replay-differs-light-wide.png", full_page=True)
    assert violations(page) == ""
