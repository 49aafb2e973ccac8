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


def test_on_a_narrow_window_a_line_at_the_top_leads_to_the_seal(visit: Visit, world: World) -> None:
    page = visit(world.page(REVIEW), world.reviewer, width=360, java_script_enabled=False)
    line = page.locator("#to-progress")
    expect(line).to_contain_text("2 claims are still undecided.")
    line.get_by_role("link", name="Progress and seal").click()
    expect(page.locator("#seal")).to_be_in_viewport(ratio=1)
    page.set_viewport_size({"width": 1280, "height": 800})
    expect(line).to_be_hidden()
