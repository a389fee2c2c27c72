"""An application in the process of the tests, which keeps what the service sends to it."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import requests
from standardwebhooks import Webhook

from running import wait_until
from server import free_port

CLIENT_SECRET = "a-client-secret-of-the-tests-with-48-characters-"
# `whsec_` and the base64 of 32 bytes.
WEBHOOK_SECRETS = ["whsec_" + "b" * 43 + "=", "whsec_" + "c" * 43 + "="]


class Listener:
    """Nobody listens at the port of the application before `start` and after `stop`."""

    def __init__(self, folder, types):
        self.port = free_port()
        # The service; None until it runs.
        self.site = None
        # The requests of the service, in their order: path, headers and body.
        self.requests = []
        # The statuses of the next answers. When none is left, the answer is 204.
        self.statuses = []
        self.server = None
        self.file = folder / "applications.yaml"
        (folder / "secret").write_text(CLIENT_SECRET)
        (folder / "hooks").write_text("\n".join(WEBHOOK_SECRETS))
        url = f"http://127.0.0.1:{self.port}"
        self.file.write_text(
            f"""
applications:
  - id: listener
    name: {{en: Listener, ko: 리스너}}
    redirect_uris: ['http://127.0.0.1:9/callback']
    secret_file: secret
    claims: [email]
    backchannel_logout_uri: {url}/logout
    webhook:
      url: {url}/hooks
      events: [{", ".join(types)}]
      secret_file: hooks
"""
        )

    def start(self):
        listener = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                listener.requests.append((self.path, dict(self.headers), body))
                self.send_response(listener.statuses.pop(0) if listener.statuses else 204)
                self.end_headers()

            def log_message(self, *arguments):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self):
        if self.server:
            self.server.shutdown()
            self.server.server_close()
            self.server = None

    def get(self, path, parameters):
        """Requests a list of events, with the id and the secret of the application."""
        response = requests.get(self.site.url + path, params=parameters, auth=("listener", CLIENT_SECRET))
        assert response.status_code == 200, response.text
        return response.json()

    def webhooks(self):
        """Verifies the webhooks with each secret. Returns the id and the event of each request, in their order."""
        found = []
        for path, headers, body in list(self.requests):
            if path == "/hooks":
                for secret in WEBHOOK_SECRETS:
                    event = Webhook(secret).verify(body, headers)
                    assert event == json.loads(body)
                found.append((headers["webhook-id"], event))
        return found

    # What waits for the application

    def wait_for_failure(self):
        """Waits until an attempt to deliver an event has failed. Returns the reason."""
        reason = "SELECT last_error FROM deliveries WHERE last_error IS NOT NULL"
        wait_until(lambda: self.site.sql(reason))
        return self.site.sql(reason)

    def make_due(self):
        """Lets the time until the next attempts pass."""
        self.site.sql("UPDATE deliveries SET due_at = now() WHERE claim IS NULL")

    def wait_for_delivery(self):
        """Waits until no event waits for the application any more, so that none is sent again."""
        wait_until(lambda: self.site.sql("SELECT count(*) FROM deliveries") == "0")

    def wait_for_list(self):
        """Waits until all events so far are in the list."""
        listed = "SELECT count(*) FROM events WHERE xid >= pg_snapshot_xmin(pg_current_snapshot())"
        wait_until(lambda: self.site.sql(listed) == "0")
