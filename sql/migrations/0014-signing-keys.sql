-- The keys that sign tokens for applications.

CREATE TABLE signing_keys (
    id         uuid        NOT NULL PRIMARY KEY,
    algorithm  text        NOT NULL CHECK (algorithm IN ('ES256', 'RS256')),
    -- A key is published as the next one, then signs, and is old after that.
    state      text        NOT NULL CHECK (state IN ('next', 'live', 'old')),
    -- The thumbprint of the public key (RFC 7638).
    kid        text        NOT NULL UNIQUE,
    -- A JWK (RFC 7517), as it is published.
    public_jwk text        NOT NULL,
    -- The private key, with the id as context. An old key has none, because nothing signs with it.
    sealed     bytea       CHECK ((sealed IS NULL) = (state = 'old')),
    created_at timestamptz NOT NULL DEFAULT now(),
    live_at    timestamptz,
    retired_at timestamptz CHECK ((retired_at IS NULL) = (state <> 'old'))
);
-- Of two servers that make the first keys at the same time, one wins.
CREATE UNIQUE INDEX signing_keys_current ON signing_keys (algorithm, state) WHERE state <> 'old';
