"""Logout tokens (OpenID Connect Back-Channel Logout 1.0): those of the service, and their check by the example shop."""

import importlib.util
import time
from pathlib import Path

import pytest
import requests
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, KeySet

from listener import CLIENT_SECRET
from relying_party import RelyingParty
from running import wait_until
from visitor import Visitor, parameters

specification = importlib.util.spec_from_file_location(
    "logout_token", Path(__file__).parents[2] / "examples" / "shop" / "logout_token.py"
)
logout_token = importlib.util.module_from_spec(specification)
specification.loader.exec_module(logout_token)

ISSUER = "https://accounts.example"
KEY = ECKey.generate_key("P-256", {"kid": "1"})


def claims(**changes):
    now = int(time.time())
    valid = {
        "iss": ISSUER,
        "aud": "shop",
        "iat": now,
        "exp": now + 120,
        "jti": "a",
        "sub": "an account",
        "sid": "a session",
        "events": {logout_token.LOGOUT: {}},
    }
    return {name: value for name, value in (valid | changes).items() if value is not None}


def sid(claims, key=KEY, typ="logout+jwt"):
    text = jwt.encode({"alg": "ES256", "kid": "1", "typ": typ}, claims, key)
    return logout_token.verify(text, KeySet([KEY]), ISSUER, "shop")


def test_a_valid_token_names_the_session():
    assert sid(claims()) == "a session"
    assert sid(claims(aud=["shop"]), typ="LOGOUT+JWT") == "a session"


@pytest.mark.parametrize(
    "changes",
    [
        {"iss": "https://accounts.example/"},
        {"iss": None},
        {"aud": "wiki"},
        {"aud": None},
        {"iat": None},
        {"exp": None},
        {"exp": 1},
        {"jti": None},
        {"sid": None},
        {"events": None},
        {"events": {}},
        {"events": logout_token.LOGOUT},
        {"events": {logout_token.LOGOUT: True}},
        {"nonce": "a"},
    ],
)
def test_a_missing_or_wrong_claim_is_refused(changes):
    with pytest.raises(JoseError):
        sid(claims(**changes))


@pytest.mark.parametrize("typ", ["JWT", "at+jwt"])
def test_a_token_of_another_type_is_refused(typ):
    with pytest.raises(JoseError):
        sid(claims(), typ=typ)


def test_a_token_that_another_key_has_signed_is_refused():
    with pytest.raises(JoseError):
        sid(claims(), key=ECKey.generate_key("P-256"))


@pytest.mark.parametrize("text", ["", "a", "a.b.c", "eyJhbGciOiJub25lIn0.e30."])
def test_text_that_is_no_token_is_refused(text):
    with pytest.raises((JoseError, ValueError)):
        logout_token.verify(text, KeySet([KEY]), ISSUER, "shop")


def test_the_shop_and_both_libraries_accept_a_token_of_the_service(listener):
    kim = Visitor(listener.site)
    account = kim.sign_up()["account"]["id"]
    party = RelyingParty(listener.site, "listener", CLIENT_SECRET)
    session = party.claims(party.sign_in(kim))["sid"]
    listener.start()
    kim.sign_out()

    def logouts():
        return [request for request in listener.requests if request[0] == "/logout"]

    wait_until(logouts)
    _, headers, body = logouts()[0]
    assert headers["Content-Type"] == "application/x-www-form-urlencoded"
    form = parameters(f"?{body.decode()}")
    assert set(form) == {"logout_token"}
    text = form["logout_token"]
    claims = party.verified(text, "listener", "logout+jwt")
    assert (claims["sub"], claims["sid"], claims["events"]) == (account, session, {logout_token.LOGOUT: {}})
    assert claims["exp"] - claims["iat"] == 120 and claims["jti"]
    assert "nonce" not in claims
    keys = KeySet.import_key_set(requests.get(party.metadata["jwks_uri"]).json())
    assert logout_token.verify(text, keys, party.issuer, "listener") == session
