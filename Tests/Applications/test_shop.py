"""The example shop in a real browser."""

import pytest

from person import PASSWORD, STEPS
from test_looks import violations


def open_page(kim, shop, path="/"):
    kim.browser.get(shop.url + path)


def wait_for_shop(kim, shop):
    kim.wait_until(lambda: kim.browser.current_url == f"{shop.url}/", "the shop")


def wait_for_page(kim, start):
    kim.wait_until(lambda: kim.path.startswith(start), start)


def claim(kim, name):
    return kim.browser.find_element("css selector", f"[data-claim={name}]").text


def sign_up(shop, kim, authenticator=False):
    """Signs up, from the first page of the service back to the shop. Returns a recovery code if there is an app."""
    recovery_code = None
    wait_for_page(kim, "/signup?request=")
    for step in STEPS:
        # The first page asks for the address.
        if step != "email":
            kim.wait_for_path(f"/signup/{step}")
        if step == "totp" and authenticator:
            kim.submit_authenticator_code()
            kim.wait_until(lambda: kim.find_all("#codes code"), "the recovery codes")
            recovery_code = kim.find("#codes code").text
            kim.find("button.main").click()
        else:
            kim.complete(step)
    kim.wait_for_path("/signup/review")
    kim.find("button.main").click()
    kim.wait_for_path("/signup")
    assert kim.find("a.main").text == "Continue to Example Shop"
    kim.find("a.main").click()
    wait_for_shop(kim, shop)
    return recovery_code


def type_password(kim):
    wait_for_page(kim, "/sign-in")
    kim.type("identifier", kim.email)
    kim.type("password", PASSWORD)
    kim.find("button.main").click()


def sign_out_at(shop, kim):
    kim.find("form[action='/sign-out'] button").click()
    kim.wait_until(lambda: kim.browser.current_url.startswith(f"{shop.url}/?state="), "the shop")
    assert kim.find_all("a[href='/sign-in']")


def test_a_person_signs_up_at_the_shop_and_out_and_in_again(shop, person):
    kim = person
    open_page(kim, shop)
    kim.find("a[href='/sign-up']").click()
    sign_up(shop, kim)
    assert kim.find("#created").is_displayed()
    assert (claim(kim, "email"), claim(kim, "preferred_username")) == (kim.email, kim.username)
    sign_out_at(shop, kim)
    kim.open("/account")
    assert kim.path == "/sign-in", "the session of the service has ended, too"
    open_page(kim, shop)
    kim.find("a[href='/sign-in']").click()
    type_password(kim)
    wait_for_shop(kim, shop)
    assert claim(kim, "email") == kim.email and not kim.find_all("#created")


def test_the_second_factor_leads_back_to_the_shop(shop, person):
    kim = person
    open_page(kim, shop, "/sign-up")
    recovery_code = sign_up(shop, kim, authenticator=True)
    assert claim(kim, "acr") == "aal2"
    sign_out_at(shop, kim)
    open_page(kim, shop, "/sign-in")
    type_password(kim)
    wait_for_page(kim, "/sign-in/second-factor")
    kim.find("a[href^='/sign-in/recovery-code']").click()
    wait_for_page(kim, "/sign-in/recovery-code")
    kim.find("main input:not([type=hidden])").send_keys(recovery_code)
    kim.find("button.main").click()
    # The page shows the code that replaces the used one.
    kim.wait_until(lambda: kim.find_all("#codes code"), "the new recovery code")
    kim.find("a.main").click()
    wait_for_shop(kim, shop)
    assert claim(kim, "acr") == "aal2"


def test_a_person_without_an_account_goes_on_from_the_sign_in_to_the_sign_up(shop, person):
    open_page(person, shop, "/sign-in")
    wait_for_page(person, "/sign-in")
    person.find("a[href*='sign-up=1']").click()
    sign_up(shop, person)
    assert person.find("#created").is_displayed()


def test_a_person_with_an_account_goes_on_from_the_sign_up_to_the_sign_in(shop, person, visitor):
    visitor.sign_up()
    person.email = visitor.email
    open_page(person, shop, "/sign-up")
    wait_for_page(person, "/signup?request=")
    person.find("a[href^='/sign-in']").click()
    type_password(person)
    wait_for_shop(person, shop)


def test_a_person_who_is_signed_in_chooses_whether_to_sign_up_again(shop, signed_in):
    kim = signed_in
    open_page(kim, shop, "/sign-up")
    kim.wait_until(lambda: kim.find("a.main").text == kim.email, "the choice")
    assert violations(kim) == []
    kim.find("a.main").click()
    wait_for_shop(kim, shop)
    assert claim(kim, "email") == kim.email


@pytest.mark.parametrize("answer", ["sign out", "stay"])
def test_a_sign_out_without_an_id_token_asks_the_person(shop, signed_in, answer):
    kim = signed_in
    kim.open(f"/oauth/logout?client_id=shop&post_logout_redirect_uri={shop.url}/")
    assert violations(kim) == []
    if answer == "sign out":
        kim.find("button.main").click()
        wait_for_shop(kim, shop)
    else:
        kim.find("main a").click()
        wait_for_page(kim, "/account")
    kim.open("/account")
    assert kim.path == {"sign out": "/sign-in", "stay": "/account"}[answer]


def test_the_shop_shows_why_a_sign_in_has_failed(shop, person):
    open_page(person, shop, "/callback?error=login_required&error_description=Nobody+is+signed+in.&state=x")
    assert "Nobody is signed in." in person.find("#message").text
