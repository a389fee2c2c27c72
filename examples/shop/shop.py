"""A small shop whose customers sign up and in at the accounts service. README.md describes it."""

import json
import logging
import secrets
from dataclasses import dataclass

import requests
import waitress
from authlib.integrations.flask_client import OAuth, OAuthError
from flask import Flask, redirect, render_template, request, session
from joserfc.errors import InvalidKeyIdError, JoseError
from joserfc.jwk import KeySet
from standardwebhooks import Webhook, WebhookVerificationError

import logout_token
from settings import Settings

settings = Settings.from_environment()
log = logging.getLogger("shop")

app = Flask(__name__)
# Sessions are in memory and end with the process anyway, so a new key at each start does no harm.
app.secret_key = secrets.token_bytes(32)
app.config.update(
    # Cookies do not depend on the port, and on localhost the service has a cookie with the name `session`.
    SESSION_COOKIE_NAME="shop",
    SESSION_COOKIE_SAMESITE="Lax",
    SESSION_COOKIE_SECURE=settings.url.startswith("https://"),
    MAX_CONTENT_LENGTH=64 * 1024,
)

accounts = OAuth(app).register(
    "accounts",
    server_metadata_url=f"{settings.issuer}/.well-known/openid-configuration",
    client_id=settings.client_id,
    client_secret=settings.client_secret,
    client_kwargs={"scope": "openid profile email", "code_challenge_method": "S256"},
)


@dataclass(frozen=True)
class Person:
    """A person who is signed in."""

    claims: dict
    id_token: str


# The people who are signed in, by the `sid` of their ID token, with which the service ends a session. The cookie of the
# browser contains only the `sid`.
people: dict[str, Person] = {}
# The ids of processed events. The service may deliver an event more than once.
processed: set[str] = set()


# MARK: Pages


@app.get("/")
def home():
    return page()


def page(message=None, status=200):
    person = people.get(session.get("sid"))
    return render_template("page.html", person=person, message=message, issuer=settings.issuer), status


@app.get("/sign-in")
def sign_in():
    return accounts.authorize_redirect(f"{settings.url}/callback")


@app.get("/sign-up")
def sign_up():
    return accounts.authorize_redirect(f"{settings.url}/callback", prompt="create")


@app.get("/callback")
def callback():
    # Checks the state, the signature, `iss`, `aud`, `exp` and the nonce.
    token = accounts.authorize_access_token()
    claims = token["userinfo"]
    session.clear()
    session["sid"] = claims["sid"]
    people[claims["sid"]] = Person(dict(claims), token["id_token"])
    return redirect("/")


@app.post("/sign-out")
def sign_out():
    person = people.pop(session.get("sid"), None)
    session.clear()
    # The token tells the service which session to end, so that it does not need to ask the person.
    return accounts.logout_redirect(
        f"{settings.url}/",
        id_token_hint=person.id_token if person else None,
        client_id=settings.client_id,
    )


# MARK: Requests of the service


@app.post("/backchannel-logout")
def backchannel_logout():
    """Receives the news that a session has ended, for example on the account page of the service."""
    text = request.form.get("logout_token", "")
    try:
        sid = verified(text)
    except (JoseError, ValueError) as error:
        log.warning("refused a logout token: %s", error)
        return {"error": "invalid_request"}, 400
    ended = people.pop(sid, None)
    log.info("the service has ended the session %s%s", sid, "" if ended else ", which was over already")
    return "", 200, {"Cache-Control": "no-store"}


def verified(text):
    for force in (False, True):
        keys = KeySet.import_key_set(accounts.fetch_jwk_set(force=force))
        try:
            return logout_token.verify(text, keys, settings.issuer, settings.client_id)
        except InvalidKeyIdError:
            # The service has a new key, so the second attempt fetches the keys again.
            if force:
                raise


@app.post("/hooks")
def hooks():
    """Receives an event, which is signed according to Standard Webhooks 1.0.0."""
    try:
        event = Webhook(settings.webhook_secret).verify(request.get_data(), dict(request.headers))
    except (WebhookVerificationError, ValueError) as error:
        log.warning("refused an event: %s", error)
        return "", 400
    if request.headers["webhook-id"] not in processed:
        processed.add(request.headers["webhook-id"])
        log.info("verified event %s", json.dumps(event, ensure_ascii=False))
    return "", 204


# MARK: Failures


@app.errorhandler(OAuthError)
def refused(error):
    # Anybody can make a link with such a text in its query, so the page must escape the text.
    return page(f"The sign-in has failed: {error.description or error.error}", 400)


@app.errorhandler(JoseError)
def invalid_token(error):
    return page(f"The service has sent an invalid token: {error}", 502)


@app.errorhandler(requests.RequestException)
def unreachable(error):
    log.error("cannot reach the service: %s", error)
    return page(f"The service at {settings.issuer} does not answer. scripts/run starts it.", 502)


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    log.info("the shop is at %s", settings.url)
    waitress.serve(app, listen=settings.listen)
