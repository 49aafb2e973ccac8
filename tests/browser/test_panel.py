"""The panel beside the claims stays in sight, and all of it can be reached in a low window."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit
from tests.web.world import World

REVIEW = "10-lift-offer"
pytestmark = pytest.mark.parametrize("world", [(REVIEW,)], indirect=True)


def test_a_panel_taller_than_the_window_scrolls_to_its_end(visit: Visit, world: World) -> None:
    page = visit(world.page(REVIEW), world.reviewer, height=500)
    policy = page.locator("aside").get_by_role("link", name="conservative 1")
    page.mouse.move(400, 300)
    page.mouse.wheel(0, 800)
    expect(page.locator("#seal")).to_be_in_viewport(ratio=1)
    expect(policy).not_to_be_in_viewport()
    page.mouse.move(1_100, 300)
    page.mouse.wheel(0, 5_000)
    expect(policy).to_be_in_viewport(ratio=1)


def test_a_focus_in_the_panel_is_never_cut(visit: Visit, world: World) -> None:
    page = visit(world.page(REVIEW), world.reviewer, height=500)
    link = page.locator("aside").get_by_role("link", name="conservative 1")
    link.focus()
    expect(link).to_be_in_viewport(ratio=1)
