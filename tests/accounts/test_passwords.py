"""New accounts, links to choose a password, and changing one's own: by the right people, once, and on record."""

from __future__ import annotations

import re
import threading
from datetime import datetime, timedelta
from typing import Any

import pytest
from allauth.socialaccount.models import SocialAccount
from django.contrib.auth.password_validation import validate_password
from django.contrib.messages import get_messages
from django.db import IntegrityError, connections
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from pytest_django import Settings
from pytest_django.asserts import assertContains, assertNotContains, assertRedirects, assertTemplateUsed

from ethos_review.accounts import operations
from ethos_review.accounts.models import User
from ethos_review.accounts.password_links import tokens
from ethos_review.accounts.roles import AUDITOR, OPERATOR, REVIEWER, ROLES, SUBMITTER
from ethos_review.audit.models import Event
from tests.accounts.test_second_factor import set_up
from tests.web.people import PASSWORD, confirm, make_person

pytestmark = pytest.mark.django_db
OTHER = "another long passphrase"
NEW, CHANGE = reverse("new_person"), reverse("change_password")


@pytest.fixture
def operator(client: Client) -> User:
    """The client is theirs, and they confirmed that it is them."""
    found = make_person(OPERATOR)
    client.force_login(found)
    confirm(client)
    return found


@pytest.fixture
def person() -> User:
    return make_person(REVIEWER)


def create(client: Client, **form: Any) -> HttpResponse:
    return client.post(NEW, {"username": "m.okafor", "display_name": "M. Okafor", "roles": [REVIEWER]} | form)


def ask_for_link(client: Client, person: User) -> HttpResponse:
    return client.post(reverse("person", args=[person.pk]), {"action": "password-link"})


def link_in(response: HttpResponse) -> str:
    found = re.search(
        r'id="link"[^>]*>http://testserver(/sign-in/password/\d+/\?token=[\w-]+)</code>',
        response.content.decode(),
    )
    assert found, "no link is shown"
    return found[1]


def choose(link: str, password: str = OTHER, again: str = "", client: Client | None = None) -> HttpResponse:
    form = {"new_password1": password, "new_password2": again or password}
    return (client or Client()).post(link, form)


def can_sign_in(username: str, password: str) -> bool:
    client = Client()
    client.post(reverse("sign_in"), {"username": username, "password": password})
    return client.get(reverse("preferences")).status_code == 200


def told() -> list[tuple[str, str, str, str]]:
    return list(
        Event.objects.order_by("sequence").values_list("actor_name", "action", "object_id", "details")
    )


# Creating an account -------------------------------------------------------------------------------------------------


def test_an_operator_creates_an_account_and_the_person_chooses_the_password(
    client: Client, operator: User
) -> None:
    link = link_in(create(client))
    person = User.objects.get(username="m.okafor")
    assert (person.name, person.has_usable_password(), person.is_superuser) == ("M. Okafor", False, False)
    assert {group.name for group in person.groups.all()} == {REVIEWER}
    assertContains(Client().get(link), "m.okafor")
    assertTemplateUsed(choose(link), "accounts/password_chosen.html")
    assert can_sign_in("m.okafor", OTHER)
    assert told()[:3] == [
        ("operator", "person_created", "m.okafor", '{"roles":"Reviewer"}'),
        ("operator", "password_link_made", "m.okafor", "{}"),
        ("M. Okafor", "password_changed", "m.okafor", '{"by":"link"}'),
    ]


def test_nobody_signs_in_to_an_account_without_a_password(client: Client, operator: User) -> None:
    create(client)
    assert not any(can_sign_in("m.okafor", guess) for guess in ("", "!", "m.okafor"))


@pytest.mark.parametrize("taken", ["operator", "Operator", "OPERATOR"])
def test_a_name_that_is_taken_is_refused_and_what_was_typed_is_kept(
    client: Client, operator: User, taken: str
) -> None:
    response = create(client, username=taken)
    assertContains(response, "There is an account with this name.")
    assertContains(response, f'value="{taken}"')
    assertContains(response, 'value="M. Okafor"')
    assert (User.objects.count(), Event.objects.count()) == (1, 0)


@pytest.mark.parametrize(
    "form",
    [
        {"username": ""},
        {"username": "two words"},
        {"username": "x" * 151},
        {"username": "nul\0"},
        {"display_name": "x" * 151},
        {"display_name": "M.\u202eOkafor"},
        {"display_name": "M.\nOkafor"},
        {"display_name": "Marguerite \u041ekafor"},  # Cyrillic
        {"display_name": "..."},
        {"roles": ["Emperor"]},
    ],
)
def test_a_form_that_does_not_fit_makes_no_account(
    client: Client, operator: User, form: dict[str, Any]
) -> None:
    assertTemplateUsed(create(client, **form), "accounts/new_person.html")
    assert (User.objects.count(), Event.objects.count()) == (1, 0)


@pytest.mark.parametrize(
    "misleading",
    [
        "\u043eperator",  # a Cyrillic letter
        "operat\u03bfr",  # a Greek one
        "r\u0431viewer",  # which looks like no Latin one, and is none
        "\u0440\u043e\u0440\u0435",  # all Cyrillic, and read as Latin
        "opera\u3164tor",  # a letter that is not drawn
        "..",
        "@",
        "-_-",
    ],
)
def test_a_username_that_looks_like_another_or_like_nothing_is_refused(
    client: Client, operator: User, misleading: str
) -> None:
    response = create(client, username=misleading)
    assert response.context["form"].errors.keys() == {"username"}
    assert (User.objects.count(), Event.objects.count()) == (1, 0)


@pytest.mark.parametrize("username", ["иванова.а", "田中さくら", "zoë-2", "7", "m_okafor@example.org"])
def test_a_username_of_one_script_is_accepted(client: Client, operator: User, username: str) -> None:
    link_in(create(client, username=username))


@pytest.mark.parametrize("taken", ["rosa", "ROSA", "ｒｏｓａ", "Rosa Lind", "rosa  LIND", "operator"])
def test_nobody_is_named_as_another_account_is(client: Client, operator: User, taken: str) -> None:
    User.objects.create_user("rosa", display_name="Rosa Lind")
    response = create(client, display_name=taken)
    assertContains(response, "Another account has this name, or one that looks like it.")
    assert response.context["form"].errors.keys() == {"display_name"}
    assert (User.objects.count(), Event.objects.count()) == (2, 0)


@pytest.mark.parametrize(
    ("shown", "alike"),
    [
        ("Pope Cox", "Роре Сох"),  # all Cyrillic
        ("Pope Cox", "РОРЕ СОХ"),
        ("POPE", "ΡΟΡΕ"),  # all Greek
        ("Роре", "Pope"),  # the other way round
        ("Роре", "ΡΟΡΕ"),  # and without any Latin letter
        ("Boot", "воот"),  # small Cyrillic letters that look like small capitals
        ("Iris Hill", "lris HiII"),  # Latin letters for each other
        ("Nina 0hl", "Nina Ohl"),
        ("Jim", "Jirn"),
        ("Óscar", "О́ѕсаг".replace("г", "r").replace("О", "O").replace("ѕса", "sca")),  # another form
        ("Pope", "𝓟𝓸𝓹𝓮"),  # mathematical letters alone
        (
            "Bill Gates",
            "ВІІӀ ԌАТЕЅ",
        ),  # all Cyrillic capitals, where I passes for l, and is i in small letters
        ("Bill Gates", "віӏӏ ԍатеѕ"),
        ("BILL GATES", "Віӏӏ Ԍатеѕ"),
        ("Bill Gates", "Biǀǀ Gates"),  # a click letter
        ("Bill", "Biⵏⵏ"),  # Tifinagh
        ("Bill", "Bi∣∣"),  # a sign of mathematics
        ("Pope", "Pop℮"),
        ("Rosa", "Roꜱa"),
        ("Gates", "ɢates"),  # small capitals
        ("Bob", "ᗷob"),  # Canadian syllables
        ("POPE", "ꓑꓳꓑꓰ"),  # all Lisu
        ("Pope", "ⲢⲞⲢⲈ"),  # all Coptic
        ("Hall", "Ha\u05d5\u05d5"),  # Hebrew
        ("Otto", "٥tt٥"),  # Arabic digits
    ],
)
def test_nobody_is_named_to_look_like_another(client: Client, operator: User, shown: str, alike: str) -> None:
    User.objects.create_user("someone", display_name=shown)
    response = create(client, display_name=alike)
    assertContains(response, "Another account has this name, or one that looks like it.")
    assert User.objects.count() == 2


@pytest.mark.parametrize(
    "name", ["Тамара Осокина", "Роре", "Νίκος", "Anna Lind", "José", "中村 花子", "Bíll"]
)
def test_a_name_that_looks_like_nobody_elses_is_accepted_in_any_script(
    client: Client, operator: User, name: str
) -> None:
    User.objects.create_user("someone", display_name="Ann Lind")
    User.objects.create_user("jose", display_name="Jose")
    User.objects.create_user("bill", display_name="Bill")
    link_in(create(client, display_name=name))


def test_nobody_signs_in_with_the_name_that_another_account_shows(client: Client, operator: User) -> None:
    User.objects.create_user("r.lind", display_name="Rosa")
    assertContains(create(client, username="rosa"), "There is an account with this name.")


def test_a_person_may_be_shown_as_they_sign_in(client: Client, operator: User) -> None:
    link_in(create(client, username="rosa", display_name="Rosa"))


def test_an_account_may_have_no_name_and_no_role(client: Client, operator: User) -> None:
    link_in(create(client, display_name="", roles=[]))
    person = User.objects.get(username="m.okafor")
    assert (person.name, person.get_all_permissions()) == ("m.okafor", set())
    assert told()[0] == ("operator", "person_created", "m.okafor", '{"roles":""}')


def test_the_loser_of_a_race_for_a_name_is_told_so(operator: User, monkeypatch: pytest.MonkeyPatch) -> None:
    def lose(person: User, **kwargs: Any) -> None:
        raise IntegrityError

    monkeypatch.setattr(User, "save", lose)
    with pytest.raises(operations.Refused, match="There is an account with this name"):
        operations.create_person(actor=operator, username="m.okafor", display_name="", roles=[])


def test_nothing_but_roles_can_be_given(client: Client, operator: User) -> None:
    create(client, is_superuser="on", is_staff="on", groups="4", user_permissions="1", is_active="")
    person = User.objects.get(username="m.okafor")
    assert (person.is_superuser, person.is_staff, person.is_active) == (False, False, True)
    assert person.get_all_permissions() == ROLES[REVIEWER]


@pytest.mark.parametrize("role", [SUBMITTER, REVIEWER, AUDITOR])
def test_only_operators_create_accounts_and_make_links(role: str) -> None:
    actor, other = make_person(role, "actor"), make_person(REVIEWER, "other")
    with pytest.raises(operations.Refused):
        operations.create_person(actor=actor, username="m.okafor", display_name="", roles=[OPERATOR])
    with pytest.raises(operations.Refused):
        operations.make_password_link(actor=actor, person_id=other.pk)
    assert (User.objects.count(), Event.objects.count()) == (2, 0)


# The link ------------------------------------------------------------------------------------------------------------


def test_a_person_who_forgot_the_password_chooses_another_and_every_session_ends(
    client: Client, operator: User, person: User
) -> None:
    theirs = Client()
    theirs.force_login(person)
    link = link_in(ask_for_link(client, person))
    assert can_sign_in("reviewer", PASSWORD)  # nobody loses anything while the link waits
    link = link_in(ask_for_link(client, person))
    choose(link)
    assert theirs.get(reverse("preferences")).status_code == 302
    assert (can_sign_in("reviewer", PASSWORD), can_sign_in("reviewer", OTHER)) == (False, True)


def test_a_link_works_once(client: Client, operator: User, person: User) -> None:
    link = link_in(ask_for_link(client, person))
    choose(link)
    for response in (Client().get(link), choose(link, "a third long passphrase")):
        assertContains(response, "This link does not work any more", status_code=404)
    assert can_sign_in("reviewer", OTHER)


def test_a_link_works_for_a_day(
    client: Client, operator: User, person: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = link_in(ask_for_link(client, person))
    for hours, status in ((23, 200), (25, 404)):
        later = datetime.now() + timedelta(hours=hours)  # noqa: DTZ005 - as Django's tokens do
        monkeypatch.setattr(tokens, "_now", lambda later=later: later)
        assert Client().get(link).status_code == status


@pytest.mark.parametrize(("seconds", "said"), [(2 * 60 * 60, "2 hours"), (60 * 60, "1 hour")])
def test_the_pages_say_how_long_a_link_works(
    client: Client, operator: User, person: User, settings: Settings, seconds: int, said: str
) -> None:
    settings.PASSWORD_RESET_TIMEOUT = seconds
    assertContains(client.get(reverse("person", args=[person.pk])), f"once and within {said}.")
    void = Client().get(reverse("choose_password", args=[person.pk]))
    assertContains(void, f"it is older than {said},", status_code=404)


@pytest.mark.parametrize("then", ["password-link", "sign-out", "deactivate"])
def test_a_link_is_void_after_a_newer_one_and_after_access_was_taken(
    client: Client, operator: User, person: User, then: str
) -> None:
    link = link_in(ask_for_link(client, person))
    client.post(reverse("person", args=[person.pk]), {"action": then})
    client.post(reverse("person", args=[person.pk]), {"action": "reactivate"})
    assert choose(link).status_code == 404
    assert can_sign_in("reviewer", PASSWORD)


def test_a_link_is_void_once_the_person_signed_in(client: Client, operator: User, person: User) -> None:
    link = link_in(ask_for_link(client, person))
    assert can_sign_in("reviewer", PASSWORD)
    assert Client().get(link).status_code == 404


def test_a_link_is_one_persons(client: Client, operator: User, person: User) -> None:
    other = make_person(REVIEWER, "other")
    link = link_in(ask_for_link(client, person))
    assert choose(link.replace(f"/{person.pk}/", f"/{other.pk}/")).status_code == 404
    assert can_sign_in("other", PASSWORD)


@pytest.mark.parametrize("token", ["", "x", "x-y", "-", "1-1", "zzzzzzzzzzzzzz-0", "-1-0", "é-é", "\udcff-0"])
def test_what_is_no_token_opens_nothing(person: User, token: str) -> None:
    for person_id in (person.pk, 0, 10**30):
        where = reverse("choose_password", args=[person_id])
        assert Client().get(where, {"token": token.encode("utf-8", "surrogatepass")}).status_code == 404


def test_a_link_is_shown_in_one_answer_only(client: Client, operator: User, person: User) -> None:
    response = ask_for_link(client, person)
    link = link_in(response)
    assert "no-store" in response["Cache-Control"]
    assert not list(get_messages(response.wsgi_request))
    assertNotContains(client.get(reverse("person", args=[person.pk])), "token=")
    assert link.partition("token=")[2] not in str(told())


def test_the_page_of_a_link_is_not_kept_by_the_browser(client: Client, operator: User, person: User) -> None:
    link = link_in(ask_for_link(client, person))
    assert "no-store" in Client().get(link)["Cache-Control"]


@pytest.mark.parametrize(
    ("password", "again", "said"),
    [
        ("short", "", "too short"),
        ("reviewer-2026", "", "too similar to the username"),
        ("password123456", "", "too common"),
        ("314159265358979", "", "entirely numeric"),
        (OTHER, f"{OTHER}!", "match"),
        ("nul\0 in a passphrase", "", "Null characters"),
    ],
)
def test_a_password_that_does_not_do_is_refused_and_the_link_still_works(
    client: Client, operator: User, person: User, password: str, again: str, said: str
) -> None:
    link = link_in(ask_for_link(client, person))
    response = choose(link, password, again)
    assertContains(response, said)
    assertNotContains(response, f'value="{password}"')
    choose(link)
    assert can_sign_in("reviewer", OTHER)


def test_a_password_like_the_persons_name_is_refused(client: Client, operator: User) -> None:
    link = link_in(create(client, display_name="Marguerite Okafor"))
    assertContains(choose(link, "marguerite-okafor"), "too similar to the display name")


ONLY_NAMES = [
    "v1796v1796v1796",
    "V1796 v1796 V1796",
    "v1796-v1796_v1796",
    "Marguerite v1796",
    "okafor okafor okafor",
    "OKAFORmarguerite",
    "ｏｋａｆｏｒ ｏｋａｆｏｒ",  # full width
]


@pytest.mark.parametrize("password", ONLY_NAMES)
def test_a_password_of_names_alone_is_refused_however_often_they_are_typed(
    client: Client, operator: User, password: str
) -> None:
    link = link_in(create(client, username="v1796", display_name="Marguerite Okafor"))
    assertContains(choose(link, password), "made of the user name or the name alone")
    assert not can_sign_in("v1796", password)


@pytest.mark.parametrize("password", ["v1796 at the weir", "okafor's heron", "- . - . - . -"])
def test_a_password_that_says_more_than_names_does(client: Client, operator: User, password: str) -> None:
    link = link_in(create(client, username="v1796", display_name="Marguerite Okafor"))
    assertTemplateUsed(choose(link, password), "accounts/password_chosen.html")


def test_no_account_is_needed_to_check_a_password() -> None:
    validate_password("v1796v1796v1796")


def test_choosing_a_password_ends_a_lock_out(client: Client, operator: User, person: User) -> None:
    for _ in range(10):
        Client().post(reverse("sign_in"), {"username": "reviewer", "password": "not this one"})
    assert not can_sign_in("reviewer", PASSWORD)
    choose(link_in(ask_for_link(client, person)))
    assert can_sign_in("reviewer", OTHER)


def test_the_second_factor_stays(client: Client, operator: User, person: User) -> None:
    theirs = Client()
    theirs.force_login(person)
    set_up(theirs)
    choose(link_in(ask_for_link(client, person)))
    response = Client().post(reverse("sign_in"), {"username": "reviewer", "password": OTHER})
    assertRedirects(response, reverse("mfa_authenticate"), fetch_redirect_response=False)


def test_operators_make_no_link_for_themselves(client: Client, operator: User) -> None:
    assert ask_for_link(client, operator)["Location"] == reverse("person", args=[operator.pk])
    assertContains(client.get(reverse("person", args=[operator.pk])), "You change your own password")
    assert not Event.objects.exists()


def test_a_closed_account_gets_no_link(client: Client, operator: User, person: User) -> None:
    operations.deactivate_person(actor=operator, person_id=person.pk)
    ask_for_link(client, person)
    assert told()[-1][1] == "person_deactivated"


def test_who_signs_in_through_openid_gets_no_link_and_no_password(
    client: Client, operator: User, settings: Settings
) -> None:
    settings.OIDC = None
    person = make_person(REVIEWER, "rosa")
    person.set_unusable_password()
    person.save()
    SocialAccount.objects.create(user=person, provider="openid_connect", uid="42")
    where = reverse("person", args=[person.pk])
    assertContains(client.get(where), "signs in through OpenID Connect")
    assertNotContains(client.get(where), "password-link")
    ask_for_link(client, person)
    theirs = Client()
    theirs.force_login(person)
    assertNotContains(theirs.get(CHANGE), "new_password1")
    assertNotContains(theirs.get(reverse("preferences")), "Change your password")
    theirs.post(CHANGE, {"old_password": "", "new_password1": OTHER, "new_password2": OTHER})
    with pytest.raises(operations.Refused):
        operations.change_password(actor=person, password=OTHER)
    person.refresh_from_db()
    assert not person.has_usable_password()
    assert {action for _, action, _, _ in told()} <= {"sign_in_failed"}


@pytest.mark.django_db(transaction=True)
def test_of_two_who_use_a_link_at_the_same_moment_one_chooses_the_password() -> None:
    operator, person = make_person(OPERATOR), make_person(REVIEWER)
    token = operations.make_password_link(actor=operator, person_id=person.pk)
    outcomes: list[str] = []

    def use(password: str) -> None:
        try:
            operations.choose_password(person_id=person.pk, token=token, password=password)
            outcomes.append(password)
        except operations.Refused:
            outcomes.append("")
        finally:
            connections.close_all()

    passwords = [f"passphrase number {number}" for number in range(4)]
    threads = [threading.Thread(target=use, args=(password,)) for password in passwords]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (chosen,) = (outcome for outcome in outcomes if outcome)
    assert len(outcomes) == 4
    assert can_sign_in("reviewer", chosen)


# One's own -----------------------------------------------------------------------------------------------------------


def change(client: Client, old: str = PASSWORD, new: str = OTHER) -> HttpResponse:
    return client.post(CHANGE, {"old_password": old, "new_password1": new, "new_password2": new})


@pytest.mark.parametrize("role", sorted(ROLES))
def test_everyone_changes_their_own_password_and_only_this_session_goes_on(role: str) -> None:
    person = make_person(role)
    here, there = Client(), Client()
    for session in (here, there):
        session.force_login(person)
    ends = here.session.get_expiry_date()
    assertRedirects(change(here), reverse("preferences"))
    assert abs(here.session.get_expiry_date() - ends) < timedelta(seconds=2)
    assert there.get(reverse("preferences")).status_code == 302
    username = person.get_username()
    assert (can_sign_in(username, PASSWORD), can_sign_in(username, OTHER)) == (False, True)
    assert told()[0] == (username, "password_changed", username, '{"by":"password"}')


def test_the_old_password_is_asked_for(client: Client, person: User) -> None:
    client.force_login(person)
    assertContains(change(client, old="not this one"), "Your old password was entered incorrectly")
    assert can_sign_in("reviewer", PASSWORD)


def test_who_stole_a_session_does_not_guess_the_password_there(client: Client, person: User) -> None:
    client.force_login(person)
    statuses = [change(client, old=f"guess {number}").status_code for number in range(10)]
    assert statuses == [200] * 9 + [429]
    assert change(client).status_code == 429
    person.refresh_from_db()
    assert person.check_password(PASSWORD)


@pytest.mark.parametrize("new", ["short", "reviewer-2026", "password123456", "314159265358979"])
def test_a_new_password_that_is_guessed_first_is_refused(client: Client, person: User, new: str) -> None:
    client.force_login(person)
    assertTemplateUsed(change(client, new=new), "accounts/change_password.html")
    assert can_sign_in("reviewer", PASSWORD)


def test_no_password_stands_in_an_event_or_on_a_page(client: Client, operator: User) -> None:
    link = link_in(create(client))
    answers = [choose(link, OTHER, f"{OTHER}!"), choose(link)]
    theirs = Client()
    theirs.post(reverse("sign_in"), {"username": "m.okafor", "password": OTHER})
    answers += [
        change(theirs, old="the-heron-by-the-weir"),
        change(theirs, old=OTHER, new="a third long passphrase"),
    ]
    said = str(told()) + "".join(answer.content.decode() for answer in answers)
    for secret in (OTHER, "the-heron-by-the-weir", "a third long passphrase", link.partition("token=")[2]):
        assert secret not in said.replace(f"?token={secret}", "")
