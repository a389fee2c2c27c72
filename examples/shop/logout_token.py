"""Verifies the token with which the service ends a session (OpenID Connect Back-Channel Logout 1.0, section 2.6)."""

from joserfc import jwt
from joserfc.errors import InvalidClaimError, InvalidHeaderValueError

LOGOUT = "http://schemas.openid.net/event/backchannel-logout"
ALGORITHMS = ["ES256", "RS256"]


def verify(text, keys, issuer, client_id):
    """Returns the `sid` of the session that has ended. Raises JoseError or ValueError if the token is not valid.

    keys: the KeySet of the service.
    """
    token = jwt.decode(text, keys, algorithms=ALGORITHMS)
    # Without these three checks, an ID token would be accepted as well.
    if token.header.get("typ", "").lower() != "logout+jwt":
        raise InvalidHeaderValueError("typ")
    events = token.claims.get("events")
    if not isinstance(events, dict) or not isinstance(events.get(LOGOUT), dict):
        raise InvalidClaimError("events")
    if "nonce" in token.claims:
        raise InvalidClaimError("nonce")
    required = {"essential": True}
    jwt.JWTClaimsRegistry(
        leeway=60,
        iss=required | {"value": issuer},
        aud=required | {"value": client_id},
        iat=required,
        exp=required,
        jti=required,
        sid=required,
    ).validate(token.claims)
    return token.claims["sid"]
