"""Accessibility and layout of the pages of recoveries, of changes of the address, and of the links in mails."""

import json
from urllib.request import Request, urlopen

import pytest

from states import other_than
from test_account_flows import NEW_PASSWORD, submit
from test_sign_in import check_looks, check_looks_of_open_page, sign_up, sign_up_with_app

NARROW = {"width": 320, "height": 700, "deviceScaleFactor": 1, "mobile": True}


@pytest.fixture(params=["en", "ko"])
def kim(person, request):
    """A person without a sign-up, in a window of 320 pixels."""
    kim = person(request.param)
    kim.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", NARROW)
    yield kim
    kim.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_the_pages_of_a_recovery(kim):
    sign_up_with_app(kim)
    kim.browser.delete_all_cookies()
    kim.open("/recovery")
    kim.type("email", kim.email)
    submit(kim, "/recovery/code")
    # The first code is that of the sign-up.
    kim.type("code", kim.site.mailbox.code(kim.email, 2))
    submit(kim, "/recovery/second-factor")
    check_looks_of_open_page(kim, "second-factor")
    kim.find("button.main").click()
    kim.wait_until(lambda: kim.refusal("second_factor"), "the refusal")
    check_looks_of_open_page(kim, "the refused second factor")
    kim.type("second_factor", kim.recovery_codes[0])
    kim.press_next()
    kim.wait_until(lambda: kim.find_all("#codes code"), "the next recovery code")
    check_looks_of_open_page(kim, "the next recovery code")
    kim.find("a.main").click()
    kim.wait_for_path("/recovery/password")
    kim.type("password", NEW_PASSWORD)
    kim.wait_until(kim.find("[name=confirmation]").is_displayed, "the confirmation")
    kim.type("confirmation", NEW_PASSWORD)
    submit(kim, "/recovery/review")
    check_looks_of_open_page(kim, "review")


def test_the_pages_of_a_change_of_the_address(kim):
    sign_up(kim)
    new = f"new-{kim.email}"
    kim.open("/account/email")
    kim.type("email", new)
    submit(kim, "/email-change/code")
    check_looks_of_open_page(kim, "code")
    code = kim.site.mailbox.code(new)
    kim.type("code", other_than(code))
    kim.press_next()
    kim.wait_until(lambda: kim.refusal("code"), "the refusal")
    check_looks_of_open_page(kim, "the wrong code")
    kim.type("code", code)
    submit(kim, "/email-change/review")
    check_looks_of_open_page(kim, "review")
    kim.find("button.main").click()
    kim.wait_until(lambda: kim.path == "/account?address-changed", "the account")
    link = kim.site.mailbox.link(kim.email, "/email-change/undo").removeprefix("/")
    check_looks(kim, link)
    kim.find("button.main").click()
    kim.wait_until(lambda: kim.find_all("form[action='/recovery']"), "the way to a new password")
    check_looks_of_open_page(kim, "the restored address")
    kim.open("/sign-in")
    check_looks(kim, link)
    kim.find("button.main").click()
    kim.wait_until(lambda: kim.find_all("a[href='/sign-in']"), "the used link")
    check_looks_of_open_page(kim, "the used link of the change")


def test_the_pages_of_the_link_in_the_mail_of_a_sign_in(kim):
    sign_up(kim)
    kim.browser.delete_all_cookies()
    body = json.dumps({"identifier": kim.email}).encode()
    urlopen(Request(f"{kim.site.url}/session/code", body, {"Content-Type": "application/json"})).close()
    link = kim.site.mailbox.link(kim.email, "/session/ticket").removeprefix("/")
    check_looks(kim, link)
    kim.find("button.main").click()
    kim.wait_for_path("/sign-in/code")
    check_looks_of_open_page(kim, "the code")
    kim.open(f"/{link}")
    kim.find("button.main").click()
    kim.wait_until(
        lambda: kim.path == "/session/ticket/redeem" and kim.find_all("main a[href='/sign-in']"), "the used link"
    )
    check_looks_of_open_page(kim, "the used link")
    check_looks(kim, "session/ticket")


def test_the_pages_of_the_links_in_the_mails_of_a_sign_up(kim):
    kim.go_to("code")
    check_looks(kim, kim.site.mailbox.ticket(kim.email).removeprefix("/"))
    assert kim.find("main form button.main"), "the ticket can be used"
    check_looks(kim, "signup/ticket?ticket=" + "A" * 44)
    check_looks(kim, "signup/ticket")
    for page in ["signup/resume", "signup/resume?code=nonsense"]:
        check_looks(kim, page)
    kim.open("/signup/code")
    kim.complete("code")
    kim.wait_for_path("/signup/password")
    kim.find("summary").click()
    kim.find("details button").click()
    kim.wait_until(lambda: kim.path == "/signup/handoff", "the message")
    check_looks_of_open_page(kim, "the message")
    link = kim.site.mailbox.link(kim.email)
    kim.open(link)
    # The script sends the code of the link.
    kim.wait_until(lambda: not kim.find_all("[data-link]") and kim.find_all("[name=confirmed]"), "the question")
    check_looks_of_open_page(kim, "the question")
    kim.find("button.main").click()
    kim.wait_for_path("/signup/password")
    # In this browser, where the sign-up goes on, the link would lead back to it.
    kim.browser.delete_all_cookies()
    kim.open(link)
    kim.wait_until(
        lambda: kim.find_all("main > p:not(#notice, .aside)") and kim.find_all("[data-link]"), "the used link"
    )
    check_looks_of_open_page(kim, "the used link")
