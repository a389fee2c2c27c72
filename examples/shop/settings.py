"""The settings of the shop, from environment variables. The defaults fit the service that scripts/run starts."""

import os
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Settings:
    # The URL under which browsers open the shop.
    url: str
    # The host and port on which the shop listens, such as `127.0.0.1:5000`.
    listen: str
    # PUBLIC_URL of the service.
    issuer: str
    client_id: str
    client_secret: str
    webhook_secret: str

    @staticmethod
    def from_environment():
        def secret(name, default):
            return Path(os.environ.get(name) or FOLDER / default).read_text().strip()

        return Settings(
            url=os.environ.get("SHOP_URL", "http://127.0.0.1:5000"),
            listen=os.environ.get("SHOP_LISTEN", "127.0.0.1:5000"),
            issuer=os.environ.get("ISSUER", "http://localhost:8080"),
            client_id=os.environ.get("CLIENT_ID", "shop"),
            client_secret=secret("CLIENT_SECRET_FILE", "example-client-secret"),
            webhook_secret=secret("WEBHOOK_SECRET_FILE", "example-webhook-secret"),
        )
