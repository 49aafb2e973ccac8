"""What is announced stands where it hides no form and never what has the focus."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Visit
from tests.factories import decide_as_shown
from tests.web.world import World

REVIEW = "10-lift-offer"
pytestmark = pytest.mark.parametrize("world", [(REVIEW,)], indirect=True)


def covers(toasts: Locator, other: Locator) -> bool:
    a, b = toasts.bounding_box(), other.bounding_box()
    assert a is not None
    assert b is not None
    return (
        a["x"] < b["x"] + b["width"]
        and b["x"] < a["x"] + a["width"]
        and a["y"] < b["y"] + b["height"]
        and b["y"] < a["y"] + a["height"]
    )


def decide(page: Page) -> Locator:
    page.locator("#claim-2 [value=approve]").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#announcement")).to_contain_text("Approved")
    return page.locator("#announcement")


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (1500, 600)])
def test_on_a_wide_window_it_stands_beside_the_claims(
    visit: Visit, world: World, width: int, height: int
) -> None:
    page = visit(world.page(REVIEW), world.reviewer, width=width, height=height)
    said = decide(page)
    assert not covers(said, page.locator("#claims"))
    assert not covers(said, page.locator("#claim-6"))


@pytest.mark.parametrize("width", [360, 768])
def test_on_a_narrow_window_it_stands_above_the_claim_that_takes_the_focus(
    visit: Visit, world: World, width: int
) -> None:
    page = visit(world.page(REVIEW), world.reviewer, width=width, height=700)
    said = decide(page)
    expect(page.locator("#claim-6")).to_be_focused()
    assert not covers(said, page.locator("#claim-6"))


def test_it_goes_to_the_other_end_where_it_would_hide_the_focus(visit: Visit, world: World) -> None:
    decide_as_shown(world.reviewer, world.reviews[REVIEW], 6, "approve")
    page = visit(world.page(REVIEW), world.reviewer, height=500)
    said = decide(page)
    for link in page.locator("aside a").all():
        link.focus()
        assert not covers(said, link)


def test_nothing_fades_where_the_panel_does_not_scroll_by_itself(visit: Visit, world: World) -> None:
    page = visit(world.page(REVIEW), world.reviewer, width=768)
    fade = "getComputedStyle(document.querySelector('aside'), '::after').content"
    assert page.evaluate(fade) == "none"
