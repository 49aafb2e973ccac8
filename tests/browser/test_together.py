"""Two reviewers in two browsers decide the same claim."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from ethos_review.reviews.models import ReviewerDecision
from tests.browser.conftest import Visit
from tests.web.world import World

REVIEW, CLAIM = "10-lift-offer", 6


@pytest.mark.parametrize("world", [(REVIEW,)], indirect=True)
@pytest.mark.parametrize("script", [True, False], ids=["with JavaScript", "without JavaScript"])
def test_one_decides_and_the_other_sees_who_and_keeps_their_text(
    visit: Visit, world: World, script: bool
) -> None:
    path = f"{world.page(REVIEW)}?claim={CLAIM}"
    mine = visit(path, world.reviewer, java_script_enabled=script)
    theirs = visit(path, world.colleague, java_script_enabled=script)
    type_rationale(mine, "I compared it with the tender.")
    type_rationale(theirs, "The tender says nothing of 24 months.")
    press(theirs, "Block")
    expect(theirs.locator(f"#claim-{CLAIM} .decision").first).to_contain_text("Blocked by reviewer2")

    press(mine, "Approve")
    told = mine.locator(f"#claim-{CLAIM}-obstacle")
    expect(told).to_contain_text("A colleague decided this claim first.")
    expect(told).to_contain_text("Blocked by reviewer2")
    expect(mine.locator(f"#claim-{CLAIM}")).to_contain_text("I compared it with the tender.")
    expect(mine.locator("#group-needs_review")).to_contain_text("1 of 2 left")
    if script:
        expect(told).to_be_focused()
        # The next live update may follow at once, and says the same in its own words.
        said = re.compile("A colleague decided this claim first.|reviewer2 blocked")
        expect(mine.locator("#announcement")).to_contain_text(said)
        stays_while_colleagues_decisions_are_asked_for(mine)
        mine.reload()
        expect(mine.locator(f"#claim-{CLAIM}")).to_contain_text("I compared it with the tender.")
    assert ReviewerDecision.objects.count() == 1


def stays_while_colleagues_decisions_are_asked_for(page: Page) -> None:
    for _ in range(2):
        with page.expect_response("**/changes/**"):
            pass
    told = page.locator(f"#claim-{CLAIM}-obstacle")
    expect(told).to_contain_text("Blocked by reviewer2")
    expect(told).to_be_focused()
    expect(page.locator(f"#claim-{CLAIM}-typed")).to_have_value("I compared it with the tender.")


def type_rationale(page: Page, rationale: str) -> None:
    page.locator(f"#claim-{CLAIM}").get_by_label("Rationale").fill(rationale)


def press(page: Page, button: str) -> None:
    page.locator(f"#claim-{CLAIM}").get_by_role("button", name=button).click()
