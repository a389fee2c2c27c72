"""An application of the service under test. It requests tokens, and receives events and back-channel logouts."""

import base64
import contextlib
import hashlib
import json
import secrets
import sys
import threading
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

sys.path.insert(0, str(Path(__file__).parents[2] / "examples/shop"))
import logout_token

EVENTS = (
    *("account.created", "account.updated", "account.disabled", "account.enabled", "account.erased"),
    *("session.created", "session.ended", "password.changed", "email.changed", "email.restored"),
    *("factor.added", "factor.removed", "refresh.reused"),
)
VERIFIER = "a-verifier-of-the-tests-with-at-least-43-characters"
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()


class Application:
    """
    Answers every request of the service with 200, and stores the received events and logouts in the order of arrival.
    """

    id = "shop"

    def __init__(self):
        self.secret = secrets.token_hex(32)
        self.webhook_secret = "whsec_" + base64.b64encode(secrets.token_bytes(32)).decode()
        # The received events as pairs of id and body, the `sid` of each received logout, and the `sid` of each session
        # for which the application has tokens.
        self.events, self.logouts, self.sids = [], [], set()
        self.complaints = []
        # A function that is called with the path before a request is answered. It returns True if it has killed the
        # server; the request then gets no answer.
        self.arrival = lambda path: False
        # The issuer and the public keys of the service, which `register` and `learn_keys` set.
        self.issuer = self.keys = None
        self.server = Server(("127.0.0.1", 0), handler(self))
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.callback = f"{self.url}/callback"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def register(self, folder, issuer):
        """Writes the applications file for the service with the URL `issuer`, and returns its path."""
        self.issuer = issuer
        for name, secret in (("secret", self.secret), ("webhook-secret", self.webhook_secret)):
            (folder / name).touch(mode=0o400)
            (folder / name).chmod(0o600)
            (folder / name).write_text(secret)
        file = folder / "applications.yaml"
        file.write_text(f"""
applications:
  - id: {self.id}
    name: {{en: Shop, ko: 상점}}
    redirect_uris: ['{self.callback}']
    post_logout_redirect_uris: ['{self.url}/']
    secret_file: secret
    claims: [email, username]
    backchannel_logout_uri: {self.url}/logout
    webhook:
      url: {self.url}/hooks
      events: [{", ".join(EVENTS)}]
      secret_file: webhook-secret
""")
        return file

    def authorization(self, **parameters):
        """Returns the path and the query of an authorization request."""
        standard = {
            "client_id": self.id,
            "redirect_uri": self.callback,
            "response_type": "code",
            "scope": "openid email profile",
            "code_challenge": CHALLENGE,
            "code_challenge_method": "S256",
            "state": "a state",
            "nonce": "a nonce",
        }
        return "/oauth/authorize?" + urlencode(standard | parameters)

    def code(self, location):
        """Returns the code in the URL that leads back to the application; None if there is none."""
        query = parse_qs(urlsplit(location).query) if location.startswith(f"{self.callback}?") else {}
        return query.get("code", [None])[0]

    @property
    def credentials(self):
        pair = f"{self.id}:{self.secret}"
        return {"Authorization": "Basic " + base64.b64encode(pair.encode()).decode()}

    def claims(self, tokens):
        """Verifies the ID token and returns its claims. Stores the `sid` of its session."""
        claims = jwt.decode(tokens["id_token"], self.keys, algorithms=["ES256"]).claims
        with self.server.lock:
            self.sids.add(claims["sid"])
        return claims

    def learn_keys(self, text):
        self.keys = KeySet.import_key_set(json.loads(text))

    def finish_requests(self):
        """Waits until the application has handled all requests that have reached it, also those of a killed server."""
        # The server accepts connections in order, so it has accepted all earlier ones when it answers this one.
        with contextlib.suppress(urllib.error.HTTPError):
            urllib.request.urlopen(self.url, timeout=60)
        with self.server.changed:
            self.server.changed.wait_for(lambda: not self.server.running, timeout=60)

    def receive(self, path, headers, body):
        with self.server.lock:
            try:
                if path == "/hooks":
                    event = Webhook(self.webhook_secret).verify(body, headers)
                    self.events.append((headers["webhook-id"], event))
                else:
                    text = parse_qs(body.decode())["logout_token"][0]
                    self.logouts.append(logout_token.verify(text, self.keys, self.issuer, self.id))
            except (WebhookVerificationError, JoseError, KeyError, ValueError) as error:
                self.complaints.append(f"a request to {path} is not valid: {error!r}")


class Server(ThreadingHTTPServer):
    lock = threading.Lock()
    changed = threading.Condition()
    # The number of requests that are being handled.
    running = 0

    def process_request(self, request, client_address):
        with self.changed:
            self.running += 1
        super().process_request(request, client_address)

    def process_request_thread(self, request, client_address):
        try:
            super().process_request_thread(request, client_address)
        finally:
            with self.changed:
                self.running -= 1
                self.changed.notify_all()

    def handle_error(self, request, client_address):
        """Ignores the error: the service was killed and cannot read the answer."""


def handler(application):
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            length = int(self.headers.get("Content-Length", 0))
            body = self.rfile.read(length)
            if len(body) < length:
                return  # the service was killed while it sent the request
            application.receive(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
            if application.arrival(self.path):
                return
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *arguments):
            pass

    return Handler
