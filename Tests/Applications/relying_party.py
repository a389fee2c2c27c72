"""An application that uses Authlib, and verifies every ID token with two more libraries."""

import jwt
import requests
from authlib.integrations.requests_client import OAuth2Session
from authlib.oidc.core import CodeIDToken
from joserfc import jwt as joserfc
from joserfc.jwk import KeySet

# No program listens at this address: the tests read the redirect and do not follow it.
CALLBACK = "http://127.0.0.1:9/callback"
NONCE = "a nonce of the tests"
# An application behind a proxy, which asks the service who the person is.
PROXIED = "app.example"
VERIFIER = "a-verifier-of-the-tests-with-at-least-43-characters"


class RelyingParty:
    def __init__(self, site, name, secret, algorithm="ES256", callback=CALLBACK):
        self.issuer = site.url
        self.metadata = requests.get(f"{site.url}/.well-known/openid-configuration").json()
        self.name = name
        self.algorithm = algorithm
        self.client = OAuth2Session(
            name,
            secret,
            scope="openid email profile",
            redirect_uri=callback,
            code_challenge_method="S256",
            token_endpoint_auth_method="client_secret_basic" if secret else "none",
        )

    def request(self, **parameters):
        """Returns the URL of an authorization request, and its state."""
        return self.client.create_authorization_url(
            self.metadata["authorization_endpoint"], code_verifier=VERIFIER, nonce=NONCE, **parameters
        )

    def redeem(self, answer, state):
        """Exchanges the code in the URL that leads back to the application. Returns the tokens."""
        return self.client.fetch_token(
            self.metadata["token_endpoint"], authorization_response=answer, state=state, code_verifier=VERIFIER
        )

    def sign_in(self, visitor, **parameters):
        """Requests a code for a visitor who is signed in at the service, and exchanges it. Returns the tokens."""
        url, state = self.request(**parameters)
        return self.redeem(visitor.redirect(url), state)

    def claims(self, tokens, nonce=NONCE):
        """Verifies the ID token with joserfc, Authlib and PyJWT. Returns its claims."""
        text = tokens["id_token"]
        keys = requests.get(self.metadata["jwks_uri"]).json()
        token = joserfc.decode(text, KeySet.import_key_set(keys), algorithms=[self.algorithm])
        options = {"iss": {"essential": True, "value": self.issuer}}
        parameters = {"client_id": self.name, "access_token": tokens["access_token"]}
        if nonce:
            parameters["nonce"] = nonce
        CodeIDToken(token.claims, token.header, options, parameters).validate()

        key = jwt.PyJWKClient(self.metadata["jwks_uri"]).get_signing_key_from_jwt(text)
        claims = jwt.decode(
            text,
            key,
            algorithms=[self.algorithm],
            audience=self.name,
            issuer=self.issuer,
            options={"require": ["iss", "sub", "aud", "exp", "iat", "sid", "at_hash"]},
        )
        assert claims == token.claims
        return claims

    def verified(self, text, audience, typ):
        """Verifies another token of the service with joserfc and PyJWT. Returns its claims."""
        keys = requests.get(self.metadata["jwks_uri"]).json()
        token = joserfc.decode(text, KeySet.import_key_set(keys), algorithms=[self.algorithm])
        key = jwt.PyJWKClient(self.metadata["jwks_uri"]).get_signing_key_from_jwt(text)
        options = {"require": ["iss", "sub", "aud", "exp", "iat"]}
        claims = jwt.decode(
            text, key, algorithms=[self.algorithm], audience=audience, issuer=self.issuer, options=options
        )
        assert claims == token.claims and token.header["typ"] == jwt.get_unverified_header(text)["typ"] == typ
        return claims

    def introspect(self, token):
        return self.client.introspect_token(self.metadata["introspection_endpoint"], token=token).json()

    def revoke(self, token):
        response = self.client.revoke_token(self.metadata["revocation_endpoint"], token=token)
        assert response.status_code == 200

    def userinfo(self, access_token):
        return requests.get(self.metadata["userinfo_endpoint"], headers={"Authorization": f"Bearer {access_token}"})
