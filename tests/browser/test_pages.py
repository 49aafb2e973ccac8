"""What holds for every page: no violation of axe, no sideways scrolling, light to load; and a picture is kept."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, Response

from tests.browser.conftest import Visit
from tests.browser.pages import PAGES, SCREENSHOTS
from tests.web.world import World

SIZES = {"wide": 1400, "narrow": 320}  # CSS pixels; 320 is also a 1280 pixel wide window at 400 % zoom
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
