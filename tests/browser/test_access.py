"""What axe does not look at: order of headings, size of targets, zoom, motion, and a focus that can be seen."""

from __future__ import annotations

from itertools import pairwise

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visit
from tests.browser.pages import PAGES
from tests.web.world import World

REVIEW = "10-lift-offer"
SMALLEST_TARGET = 24  # CSS pixels (WCAG 2.5.8)

HEADINGS = "[...document.querySelectorAll('h1, h2, h3, h4, h5, h6')].map((h) => Number(h.tagName[1]))"
# Links inside a sentence are as tall as its line; everything else has its own room. A label belongs to its box,
# and in the queue the whole row is the link.
SMALL_TARGETS = """
(smallest) => [...document.querySelectorAll("a, button, summary, select, textarea, input:not([type=hidden])")]
  .filter((target) => {
    const box = (target.closest(".choice, .row") ?? target).getBoundingClientRect();
    const isSeen = target.checkVisibility({ visibilityProperty: true }) && box.width > 1 && box.bottom > 0;
    const aroundIt = target.parentElement.textContent.replace(target.textContent, "").trim();
    const isInText = getComputedStyle(target).display === "inline" && aroundIt !== "";
    return isSeen && !isInText && (box.width < smallest || box.height < smallest);
  })
  .map((target) => `${target.outerHTML.slice(0, 90)} ${target.offsetWidth}x${target.offsetHeight}`)
"""
MOVING = """
[...document.querySelectorAll("*")]
  .filter((element) => {
    const style = getComputedStyle(element);
    return style.animationName !== "none" || style.transitionDuration.split(", ").some((time) => parseFloat(time) > 0);
  })
  .map((element) => element.outerHTML.slice(0, 80))
"""
# Some point of the element in focus is on the screen and lies below nothing else.
FOCUS_IS_SEEN = """
() => {
  const focused = document.activeElement;
  return [...focused.getClientRects()].some((box) => [0.1, 0.5, 0.9].some((part) => {
    const x = box.left + box.width * 0.5;
    const y = box.top + box.height * part;
    const top = document.elementFromPoint(x, y);
    return top && (focused.contains(top) || top.contains(focused) && top.closest("main, header, dialog, body") === top);
  }));
}
"""
FOCUSED = "document.activeElement.id || document.activeElement.outerHTML.slice(0, 90)"


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_headings_in_order_targets_to_hit_and_room_at_double_size(
    visit: Visit, world: World, name: str
) -> None:
    page = visit(PAGES[name].path(world), PAGES[name].who(world), width=1360)
    levels = page.evaluate(HEADINGS)
    assert (levels[0], levels.count(1)) == (1, 1)
    assert all(below <= above + 1 for above, below in pairwise(levels)), levels
    for width in (1360, 640, 320):  # 640 is a window of 1280 at 200 %
        page.set_viewport_size({"width": width, "height": 450})
        assert page.evaluate(SMALL_TARGETS, SMALLEST_TARGET) == [], width
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("name", ["queue", "review-partial", "release"])
def test_nothing_moves_for_who_does_not_want_it(visit: Visit, world: World, name: str) -> None:
    page = visit(PAGES[name].path(world), PAGES[name].who(world), reduced_motion="reduce")
    assert page.evaluate(MOVING) == []


@pytest.mark.parametrize("world", [(REVIEW,)], indirect=True)
@pytest.mark.parametrize(("width", "height"), [(1280, 500), (640, 450), (320, 640)])
def test_the_focus_is_always_seen(visit: Visit, world: World, width: int, height: int) -> None:
    page = visit(f"{world.page(REVIEW)}?claim=2", world.reviewer, width=width, height=height)
    page.locator("#seal").focus()
    page.keyboard.press("Enter")  # a message stands above the page
    expect(page.locator("#announcement")).not_to_be_empty()
    page.evaluate("scrollTo(0, 0); document.activeElement.blur()")
    seen = walk(page, "Tab") + walk(page, "Shift+Tab")
    assert len(seen) > 30
    assert [what for what, is_seen in seen if not is_seen] == []


def walk(page: Page, key: str) -> list[tuple[str, bool]]:
    found: list[tuple[str, bool]] = []
    for _ in range(40):
        page.keyboard.press(key)
        if page.evaluate("document.activeElement === document.body"):
            break
        found.append((page.evaluate(FOCUSED), page.evaluate(FOCUS_IS_SEEN)))
    return found
