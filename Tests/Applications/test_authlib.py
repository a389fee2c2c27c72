"""Authlib as an application, with tokens that joserfc and PyJWT verify."""

import html
import re

import pytest
import requests
from authlib.integrations.base_client import OAuthError
from authlib.oidc.discovery import OpenIDProviderMetadata

from relying_party import CALLBACK, NONCE, PROXIED
from visitor import parameters


def test_authlib_accepts_the_description_of_the_provider(site):
    documents = [
        requests.get(f"{site.url}/.well-known/{name}")
        for name in ["openid-configuration", "oauth-authorization-server"]
    ]
    assert documents[0].json() == documents[1].json()
    metadata = OpenIDProviderMetadata(documents[0].json())
    metadata.validate()
    assert metadata["issuer"] == site.url
    assert metadata["prompt_values_supported"] == ["none", "login", "create", "select_account"]
    assert metadata["backchannel_logout_session_supported"] is True
    assert {"sub", "email", "email_verified", "preferred_username"} <= set(metadata["claims_supported"])


def test_a_person_signs_up_for_an_application(relying_party, visitor):
    reader = relying_party()
    url, state = reader.request(prompt="create")
    answer = visitor.sign_up_at(url)
    assert answer.startswith(CALLBACK)
    assert parameters(answer)["state"] == state and parameters(answer)["iss"] == reader.issuer
    tokens = reader.redeem(answer, state)
    claims = reader.claims(tokens)
    assert claims["nonce"] == NONCE and claims["account_created"] is True
    assert claims["email"] == visitor.email and claims["preferred_username"] == visitor.username
    assert claims["email_verified"] is True and "display_name" not in claims
    assert (claims["acr"], claims["amr"]) == ("aal1", ["pwd"])


def test_the_account_is_new_only_in_the_answer_to_its_sign_up(relying_party, visitor):
    reader = relying_party()
    url, state = reader.request(prompt="create")
    first = reader.claims(reader.redeem(visitor.sign_up_at(url), state))
    again = reader.claims(reader.sign_in(visitor))
    assert again["sub"] == first["sub"] and "account_created" not in again


def test_the_claims_of_an_access_token_are_those_of_the_id_token(relying_party, visitor):
    reader = relying_party()
    visitor.sign_up()
    tokens = reader.sign_in(visitor)
    claims = reader.claims(tokens)
    userinfo = reader.userinfo(tokens["access_token"]).json()
    assert userinfo == {name: claims[name] for name in ["sub", "email", "email_verified", "preferred_username"]}
    access = reader.verified(tokens["access_token"], audience=reader.issuer, typ="at+jwt")
    assert access["exp"] - access["iat"] == 300 and access["jti"]
    assert (access["sub"], access["sid"], access["client_id"]) == (claims["sub"], claims["sid"], reader.name)


def test_the_identity_that_a_proxy_passes_on_is_a_token_for_its_host(relying_party, visitor):
    account = visitor.sign_up()["account"]
    question = {"X-Original-URL": f"https://{PROXIED}/orders"}
    answer = visitor.http.get(f"{visitor.site.url}/session/check", headers=question)
    assert answer.status_code == 204
    identity = relying_party().verified(answer.headers["X-Identity"], audience=PROXIED, typ="JWT")
    assert identity["sub"] == account["id"] and 0 < identity["exp"] - identity["iat"] <= 300


def test_an_older_application_gets_rs256(relying_party, visitor):
    visitor.sign_up()
    older = relying_party("older", algorithm="RS256")
    first = dict(older.sign_in(visitor))
    second = dict(older.client.refresh_token(older.metadata["token_endpoint"], first["refresh_token"]))
    claims = older.claims(first)
    accesses = [older.verified(tokens["access_token"], older.issuer, "at+jwt") for tokens in [first, second]]
    assert {(access["sub"], access["sid"]) for access in accesses} == {(claims["sub"], claims["sid"])}
    assert accesses[0]["jti"] != accesses[1]["jti"]


def test_an_app_without_a_secret_listens_on_any_port(relying_party, visitor):
    visitor.sign_up()
    phone = relying_party("phone", secret=None, callback="http://127.0.0.1:49152/callback")
    url, state = phone.request()
    # Any program on the device could send this request, so the service asks the person.
    page = visitor.open(url).text
    assert "then continue to Phone." in page
    chosen = html.unescape(re.search(r'class="button main" href="([^"]+)"', page)[1])
    tokens = phone.redeem(visitor.redirect(requests.compat.urljoin(url, chosen)), state)
    assert phone.claims(tokens)["preferred_username"] == visitor.username
    assert phone.introspect(tokens["access_token"])["error"] == "invalid_client"
    assert phone.client.refresh_token(phone.metadata["token_endpoint"], tokens["refresh_token"])["access_token"]


# MARK: Pushed requests


def push(party, **changes):
    url, state = party.request(**changes)
    response = party.client.post(
        party.metadata["pushed_authorization_request_endpoint"],
        data=parameters(url),
        auth=party.client.client_auth(party.client.token_endpoint_auth_method),
        withhold_token=True,
    )
    return response, state


@pytest.mark.parametrize("prompt", ["create", "login"])
def test_a_pushed_request_works_as_any_other_but_only_once(relying_party, visitor, prompt):
    reader = relying_party()
    response, state = push(reader, prompt=prompt)
    assert response.status_code == 201
    pushed = response.json()["request_uri"]
    url = f"{reader.metadata['authorization_endpoint']}?" + requests.compat.urlencode(
        {"client_id": reader.name, "request_uri": pushed}
    )
    if prompt == "create":
        tokens = reader.redeem(visitor.sign_up_at(url), state)
        assert reader.claims(tokens)["account_created"] is True
    else:
        assert "/sign-in?" in visitor.redirect(url)
    assert visitor.open(url).status_code == 400


def test_a_pushed_request_with_a_mistake_is_refused(relying_party):
    response, _ = push(relying_party(), prompt="register")
    assert response.status_code == 400 and response.json()["error"] == "invalid_request"


# MARK: Refresh, introspection, revocation


def test_tokens_are_refreshed_introspected_and_revoked(relying_party, visitor):
    reader = relying_party()
    visitor.sign_up()
    first = dict(reader.sign_in(visitor))
    second = dict(reader.client.refresh_token(reader.metadata["token_endpoint"], first["refresh_token"]))
    assert second["refresh_token"] != first["refresh_token"]
    assert reader.claims(second, nonce=None)["sub"] == reader.claims(first)["sub"]
    repeated = reader.client.refresh_token(reader.metadata["token_endpoint"], first["refresh_token"])
    assert repeated["refresh_token"] == second["refresh_token"]

    described = reader.introspect(second["access_token"])
    assert described["active"] is True and described["client_id"] == "reader"
    reader.revoke(second["refresh_token"])
    assert reader.introspect(second["access_token"]) == {"active": False}
    assert reader.userinfo(second["access_token"]).status_code == 401
    with pytest.raises(OAuthError, match="invalid_grant"):
        reader.client.refresh_token(reader.metadata["token_endpoint"], second["refresh_token"])


def test_tokens_end_with_the_session(relying_party, visitor):
    reader = relying_party()
    visitor.sign_up()
    tokens = dict(reader.sign_in(visitor))
    visitor.sign_out()
    assert reader.introspect(tokens["access_token"]) == {"active": False}
    with pytest.raises(OAuthError, match="invalid_grant"):
        reader.client.refresh_token(reader.metadata["token_endpoint"], tokens["refresh_token"])


def test_a_code_that_is_used_twice_ends_the_tokens(relying_party, visitor):
    reader = relying_party()
    visitor.sign_up()
    url, state = reader.request()
    answer = visitor.redirect(url)
    tokens = dict(reader.redeem(answer, state))
    with pytest.raises(OAuthError, match="invalid_grant"):
        reader.redeem(answer, state)
    assert reader.introspect(tokens["access_token"]) == {"active": False}


# MARK: Errors


def test_a_wrong_secret_is_refused(relying_party, visitor):
    visitor.sign_up()
    with pytest.raises(OAuthError, match="invalid_client"):
        relying_party(secret="not-the-secret").sign_in(visitor)


def test_prompt_none_without_a_session_leads_back_with_an_error(relying_party, visitor):
    reader = relying_party()
    url, state = reader.request(prompt="none")
    answer = parameters(visitor.redirect(url))
    assert (answer["error"], answer["state"], answer["iss"]) == ("login_required", state, reader.issuer)


@pytest.mark.parametrize(
    "changes",
    [
        {"client_id": "nobody"},
        {"redirect_uri": CALLBACK + "/"},
        {"redirect_uri": "http://127.0.0.1:10/callback"},
        {"prompt": "register"},
    ],
)
def test_a_wrong_request_never_leads_to_another_address(relying_party, visitor, changes):
    reader = relying_party()
    url, _ = reader.request()
    query = parameters(url) | changes
    response = visitor.open(reader.metadata["authorization_endpoint"], params=query)
    assert response.status_code == 400 and "Location" not in response.headers
