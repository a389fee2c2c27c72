"""The delivery of events and of back-channel logouts to applications."""

import json
import re
import socket

import pytest

from running import wait_until
from test_shop import claim, open_page, wait_for_shop
from visitor import Visitor


def events(shop):
    return [json.loads(text) for text in re.findall(r"verified event (.*)", shop.log.read_text())]


def test_the_shop_verifies_the_event_of_a_new_account(shop, visitor):
    id = visitor.sign_up()["account"]["id"]
    account = {"id": id, "email": visitor.email, "preferred_username": visitor.username}

    def is_known():
        return any(
            event["type"] == "account.created" and event["data"]["account"].items() >= account.items()
            for event in events(shop)
        )

    wait_until(is_known)


def test_a_session_that_ends_on_the_page_of_the_account_ends_at_the_shop(shop, signed_in):
    kim = signed_in
    open_page(kim, shop, "/sign-in")
    wait_for_shop(kim, shop)
    sid = claim(kim, "sid")
    kim.open("/account")
    kim.find("header form[action='/account/sign-out'] button").click()
    kim.wait_for_path("/sign-in?signed-out")
    wait_until(lambda: f"the service has ended the session {sid}\n" in shop.log.read_text())
    open_page(kim, shop)
    assert kim.find_all("a[href='/sign-in']")


def test_a_session_that_ends_at_the_service_ends_at_apache(wiki, member):
    kim = member
    assert kim.open(f"{wiki.url}/index").status_code == 200
    kim.sign_out()
    wait_until(lambda: kim.open(f"{wiki.url}/index").is_redirect)


def test_events_for_an_application_that_is_down_arrive_once_when_it_is_up_again(listener):
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", listener.port))
    kim = Visitor(listener.site)
    account = kim.sign_up()["account"]["id"]
    assert listener.wait_for_failure()
    # The second event of the account waits for the first.
    attempts = "SELECT type, attempts FROM deliveries JOIN events ON events.id = event ORDER BY events.sequence"
    assert listener.site.sql(attempts) == "account.created|1\nsession.created|0"
    listener.start()
    listener.make_due()
    listener.wait_for_delivery()
    received = listener.webhooks()
    assert [event["type"] for _, event in received] == ["account.created", "session.created"]
    assert all(event["data"]["account"]["id"] == account for _, event in received)
    assert len({id for id, _ in received}) == 2
