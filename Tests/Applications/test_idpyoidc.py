"""An application that uses idpyoidc, the library of the tests that certify OpenID clients."""

import secrets

import pytest
from idpyoidc.client.rp_handler import RPHandler

from relying_party import CALLBACK
from visitor import parameters

PKCE = {
    "function": "idpyoidc.client.oauth2.add_on.pkce.add_support",
    "kwargs": {"code_challenge_length": 64, "code_challenge_method": "S256"},
}


@pytest.fixture
def handler(site, relying_party):
    client = {
        "issuer": site.url,
        "client_id": "reader",
        "client_secret": relying_party().client.client_secret,
        "client_type": "oidc",
        "client_authn_methods": ["client_secret_basic"],
        "redirect_uris": [CALLBACK],
        "preference": {
            "response_types": ["code"],
            "scope": ["openid", "email"],
            "token_endpoint_auth_method": "client_secret_basic",
            "id_token_signed_response_alg": "ES256",
        },
        "add_ons": {"pkce": PKCE},
    }
    return RPHandler(
        base_url=CALLBACK.removesuffix("/callback"),
        client_configs={site.url: client},
        key_conf={"key_defs": [{"type": "EC", "crv": "P-256", "use": ["sig"]}], "uri_path": ""},
        hash_seed=secrets.token_hex(16),
    )


def test_a_person_signs_up_and_the_library_accepts_every_answer(handler, visitor):
    url = handler.begin(visitor.site.url, req_args={"prompt": "create"})
    state = parameters(url)["state"]
    answer = parameters(visitor.sign_up_at(url))
    result = handler.finalize(visitor.site.url, answer)
    assert "error" not in result, result
    assert result["id_token"]["account_created"] is True
    assert result["userinfo"]["email"] == visitor.email

    refreshed = handler.refresh_access_token(state)
    assert refreshed["access_token"] != result["token"]
    assert handler.get_user_info(state, access_token=refreshed["access_token"])["email"] == visitor.email
