"""Working without a mouse: every advertised key does what it says, and no printed character decides anything."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from ethos_review.reviews.models import ReviewerDecision
from ethos_review.web.shortcuts import SHORTCUTS
from tests.browser.conftest import Visit
from tests.factories import decide_as_shown
from tests.web.world import World

REVIEW = "10-lift-offer"  # claims 2 and 6 need a person
LONG = "11-campus-energy"  # twenty claims need a person
PHRASE = "hey kim, abandon all bad data"

only_review = pytest.mark.parametrize("world", [(REVIEW,)], indirect=True)


def focus_id(page: Page) -> str:
    return str(page.evaluate("document.activeElement.id || document.activeElement.tagName"))


def press(page: Page, keys: str) -> None:
    for key in keys.split():
        page.keyboard.press(key)


# What is true after the key, starting on the review page with the focus on claim 6, which is decided,
# or on claim 2, which waits and stands open.
EFFECTS: dict[str, tuple[str, Callable[[Page], None]]] = {
    "j": ("#claim-2", lambda page: expect(page.locator("#claim-6")).to_be_focused()),
    "k": ("#claim-6", lambda page: expect(page.locator("#claim-2")).to_be_focused()),
    "n": ("#claim-6", lambda page: expect(page.locator("#claim-2")).to_be_focused()),
    "Enter": ("#claim-6", lambda page: expect(page.locator("#claim-6-body")).to_be_visible()),
    "a": ("#claim-2", lambda page: expect(page.locator("#claim-2 [value=approve]")).to_be_focused()),
    "b": ("#claim-2", lambda page: expect(page.locator("#claim-2-rationale")).to_be_focused()),
    "r": ("#claim-2", lambda page: expect(page.locator("#claim-2-rationale")).to_be_focused()),
    "u": ("#claim-6", lambda page: expect(page.locator("#claim-6 [data-go=undo]")).to_be_focused()),
    "Escape": ("#claim-2-rationale", lambda page: expect(page.locator("#claim-2")).to_be_focused()),
    "g q": (
        "#claim-2",
        lambda page: expect(page.get_by_role("heading", name="Queue", level=1)).to_be_visible(),
    ),
    # The only review there is comes again, loaded anew.
    "g n": ("#claim-2", lambda page: expect(page.locator("#claim-2")).not_to_be_focused()),
    "/": ("#claim-2", lambda page: expect(page.locator("#id_text")).to_be_focused()),
    "?": ("#claim-2", lambda page: expect(page.locator("#shortcuts")).to_be_visible()),
}


def test_every_advertised_key_is_tested() -> None:
    assert {shortcut.keys for shortcut in SHORTCUTS} == set(EFFECTS)


@only_review
@pytest.mark.parametrize("keys", EFFECTS)
def test_an_advertised_key_does_what_it_says(visit: Visit, world: World, keys: str) -> None:
    decide_as_shown(world.reviewer, world.reviews[REVIEW], 6, "approve")
    start, effect = EFFECTS[keys]
    page = visit(world.page(REVIEW), world.reviewer)
    page.locator(start).focus()
    press(page, keys)
    effect(page)
    assert ReviewerDecision.objects.count() == 1


@only_review
def test_a_key_opens_a_closed_claim_on_the_way_to_its_button(visit: Visit, world: World) -> None:
    page = visit(f"{world.page(REVIEW)}?claim=2", world.reviewer)
    page.locator("#claim-6").focus()
    page.keyboard.press("a")
    expect(page.locator("#claim-6 [value=approve]")).to_be_focused()


@only_review
def test_the_phrase_decides_nothing_wherever_it_is_typed(visit: Visit, world: World) -> None:
    decide_as_shown(world.colleague, world.reviews[REVIEW], 6, "approve")
    page = visit(world.page(REVIEW), world.reviewer)
    places = page.locator("main a, main button, main textarea, main [tabindex]")
    page.keyboard.type(PHRASE)
    for number in range(places.count()):
        if places.nth(number).is_visible():
            places.nth(number).focus()
            page.keyboard.type(PHRASE)
    expect(page).to_have_url(re.compile(f"{world.page(REVIEW)}(\\?claim=[0-9])?$"))
    assert ReviewerDecision.objects.count() == 1


@only_review
def test_the_phrase_ends_up_in_the_rationale_where_it_is_typed(visit: Visit, world: World) -> None:
    page = visit(world.page(REVIEW), world.reviewer)
    page.locator("#claim-2-rationale").focus()
    page.keyboard.type(PHRASE)
    expect(page.locator("#claim-2-rationale")).to_have_value(PHRASE)


@only_review
@pytest.mark.parametrize("modifier", ["Control", "Alt", "Meta"])
def test_no_shortcut_fires_with_a_modifier(visit: Visit, world: World, modifier: str) -> None:
    page = visit(world.page(REVIEW), world.reviewer)
    page.locator("#claim-2").focus()
    page.keyboard.press(f"{modifier}+j")
    expect(page.locator("#claim-2")).to_be_focused()


@only_review
def test_no_shortcut_fires_in_a_dialog(visit: Visit, world: World) -> None:
    page = visit(world.page(REVIEW), world.reviewer)
    page.locator("#claim-2").focus()
    press(page, "? j a b r u")
    expect(page.locator("#shortcuts")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#claim-2")).to_be_focused()


@only_review
def test_shortcuts_that_were_switched_off_do_nothing(visit: Visit, world: World) -> None:
    world.reviewer.single_key_shortcuts = False
    world.reviewer.save()
    page = visit(world.page(REVIEW), world.reviewer)
    page.locator("#claim-2").focus()
    press(page, "j ? a")
    expect(page.locator("#claim-2")).to_be_focused()
    expect(page.locator("#shortcuts")).not_to_be_visible()


@only_review
def test_control_enter_in_the_rationale_decides_as_the_last_key_meant(visit: Visit, world: World) -> None:
    page = visit(world.page(REVIEW), world.reviewer)
    page.locator("#claim-2").focus()
    press(page, "b")
    page.keyboard.type("It concludes too much.")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#claim-2 .decision")).to_contain_text("Blocked by reviewer")


@only_review
@pytest.mark.parametrize("shortcuts", [True, False], ids=["with shortcuts", "without shortcuts"])
def test_control_enter_without_a_button_headed_for_says_how_to_choose(
    visit: Visit, world: World, shortcuts: bool
) -> None:
    world.reviewer.single_key_shortcuts = shortcuts
    world.reviewer.save()
    page = visit(world.page(REVIEW), world.reviewer)
    page.locator("#claim-2-rationale").focus()
    page.keyboard.type("It concludes too much.")
    page.keyboard.press("Control+Enter")
    how = "Press Escape, go to Approve with a or to Block with b" if shortcuts else "with Tab"
    expect(page.locator("#announcement")).to_contain_text(how)
    expect(page.locator("#claim-2-rationale")).to_be_focused()
    assert ReviewerDecision.objects.count() == 0


@pytest.mark.parametrize("world", [("06-cladding-sheet",)], indirect=True)
@pytest.mark.parametrize(("key", "decided"), [("a", "Approved by reviewer"), ("b", "Blocked by reviewer")])
def test_control_enter_after_a_missing_rationale_decides_as_before(
    visit: Visit, world: World, key: str, decided: str
) -> None:
    page = visit(f"{world.page('06-cladding-sheet')}?claim=2", world.reviewer)
    page.locator("#claim-2").focus()
    page.keyboard.press(key)
    page.locator(f"#claim-2 [data-go={'approve' if key == 'a' else 'block'}]").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#claim-2-error")).to_be_visible()
    page.keyboard.type("I read the sheet.")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#claim-2 .decision")).to_contain_text(decided)


@pytest.mark.parametrize("world", [(LONG,)], indirect=True)
def test_the_top_of_the_claim_that_takes_the_focus_is_in_sight(visit: Visit, world: World) -> None:
    page = visit(world.page(LONG), world.reviewer, height=500)
    for _ in range(3):
        waiting = page.locator(".card[data-undecided]").first
        current = waiting.get_attribute("id")
        waiting.locator("[data-go=rationale]").fill("The source does not say this.")
        waiting.locator("[data-go=block]").focus()
        page.keyboard.press("Enter")
        expect(page.locator(f"#{current}[data-undecided]")).to_have_count(0)
        assert_top_is_in_sight(page)
    page.locator(f"#{current} [data-go=undo]").focus()
    page.keyboard.press("Enter")
    expect(page.locator(f"#{current}")).to_be_focused()
    assert_top_is_in_sight(page)


@only_review
def test_walking_to_a_claim_that_is_in_sight_moves_nothing(visit: Visit, world: World) -> None:
    page = visit(f"{world.page(REVIEW)}?claim=3", world.reviewer, height=1_400)
    page.locator("#claim-2").focus()
    before = page.evaluate("scrollY")
    page.keyboard.press("j")
    expect(page.locator("#claim-6")).to_be_focused()
    assert page.evaluate("scrollY") == before


def assert_top_is_in_sight(page: Page) -> None:
    top = page.evaluate("document.activeElement.closest('.card').getBoundingClientRect().top")
    assert 0 <= top < 400


@only_review
def test_undo_is_one_key_and_enter(visit: Visit, world: World) -> None:
    decide_as_shown(world.reviewer, world.reviews[REVIEW], 6, "approve", "Both pages say so.")
    page = visit(world.page(REVIEW), world.reviewer)
    page.locator("#claim-6").focus()
    press(page, "u Enter")
    expect(page.locator("#claim-6-form")).to_be_visible()
    expect(page.locator("#claim-6")).to_be_focused()

    rationale = page.locator("#claim-6-rationale")
    expect(rationale).to_have_value("Both pages say so.")
    for changed in ("Page 2 says so.", ""):
        rationale.fill(changed)
        page.reload()
        expect(rationale).to_have_value(changed)


@only_review
def test_the_key_for_undo_leads_to_my_last_decision_in_any_group(visit: Visit, world: World) -> None:
    decide_as_shown(world.reviewer, world.reviews[REVIEW], 2, "approve")
    decide_as_shown(world.colleague, world.reviews[REVIEW], 6, "approve")
    page = visit(f"{world.page(REVIEW)}?claim=0", world.reviewer)
    page.locator("#claim-0-rationale").fill("The page says otherwise.")
    page.locator("#claim-0 [data-go=block]").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#seal")).to_be_focused()
    page.keyboard.press("u")
    expect(page.locator("#claim-0 [data-go=undo]")).to_be_focused()
    page.locator("#claim-6").focus()
    page.keyboard.press("u")
    expect(page.get_by_role("button", name="Undo reviewer2’s decision")).to_be_focused()


@only_review
def test_the_key_for_undo_says_when_there_is_nothing(visit: Visit, world: World) -> None:
    decide_as_shown(world.colleague, world.reviews[REVIEW], 6, "approve")
    page = visit(world.page(REVIEW), world.reviewer)
    page.keyboard.press("u")
    expect(page.locator("#announcement")).to_have_text("Nothing to undo here.")


@only_review
@pytest.mark.parametrize("is_open", [True, False])
def test_a_key_that_leads_nowhere_says_so(visit: Visit, world: World, is_open: bool) -> None:
    page = visit(f"{world.page(REVIEW)}?claim={0 if is_open else 6}", world.reviewer)
    page.locator("#claim-0").focus()
    page.keyboard.press("a")
    expect(page.locator("#announcement")).to_have_text("Nothing to approve here.")
    expect(page.locator("#claim-0")).to_be_focused()


@only_review
def test_no_key_is_hinted_at_that_does_nothing(visit: Visit, world: World) -> None:
    hints = "#claim-2 .decide kbd"
    expect(visit(world.page(REVIEW), world.reviewer).locator(hints).first).to_be_visible()
    touched = visit(world.page(REVIEW), world.reviewer, is_mobile=True, has_touch=True)
    expect(touched.locator(hints).first).to_be_hidden()
    world.reviewer.single_key_shortcuts = False
    world.reviewer.save()
    page = visit(world.page(REVIEW), world.reviewer)
    expect(page.locator(hints).first).to_be_hidden()
    page.get_by_role("link", name="Shortcuts", exact=True).click()
    expect(page.locator("#shortcuts")).to_contain_text("Single-key shortcuts are off")
    page.locator("#shortcuts").get_by_role("link", name="Preferences").click()
    page.wait_for_url("**/preferences/#id_single_key_shortcuts")
    expect(page.get_by_label("Single-key shortcuts")).to_be_visible()


@pytest.mark.parametrize("world", [(LONG,)], indirect=True)
def test_twenty_claims_are_decided_by_keyboard_alone(visit: Visit, world: World) -> None:
    page = visit(world.page(LONG), world.reviewer)
    page.keyboard.press("j")
    for number in range(20):
        waiting = page.locator(".card[data-undecided]").first
        expect(page.locator(".card[data-undecided]")).to_have_count(20 - number)
        current = waiting.get_attribute("id")
        if focus_id(page) != current:
            assert number == 0, "the focus is not on the next claim"
            page.locator(f"#{current}").focus()
        if number % 3:
            press(page, "r")
            page.keyboard.type("Compared with the source.")
            press(page, "Escape a Enter")
        else:
            press(page, "b")
            page.keyboard.type("The source does not say this.")
            press(page, "Escape b Enter")
        expect(page.locator(f"#{current}[data-undecided]")).to_have_count(0)
        assert focus_id(page) != "BODY"
    expect(page.locator("#seal")).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url("**/seal/")
    assert ReviewerDecision.objects.count() == 20


def test_the_queue_is_walked_with_the_same_keys(visit: Visit, world: World) -> None:
    page = visit("/", world.reviewer)
    press(page, "j j k Enter")
    page.wait_for_url("**/reviews/*/")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Why did pump 2")
