-- The OpenID provider: what sessions have given to applications.

CREATE TABLE grants (
    -- The `sid` of the tokens.
    id          uuid        NOT NULL PRIMARY KEY,
    session     uuid        NOT NULL REFERENCES sessions ON DELETE CASCADE,
    application text        NOT NULL,
    account     uuid        NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT now(),
    UNIQUE (session, application)
);

-- Answers to authorization requests: a code, and the tokens that it buys.
CREATE TABLE authorizations (
    id              uuid        NOT NULL PRIMARY KEY,
    grant_id        uuid        NOT NULL REFERENCES grants ON DELETE CASCADE,
    -- SHA-256 of the code.
    code_digest     bytea       NOT NULL,
    code_expires_at timestamptz NOT NULL,
    -- Identifies the request that has used the code; null until then.
    code_use        uuid,
    -- The authorization request, with the id as context; empty once the code is used. It is not encrypted again when the
    -- keys rotate, because a code lives for a minute.
    sealed          bytea       NOT NULL,
    scope           text        NOT NULL,
    -- Random bytes from which the refresh tokens are derived.
    nonce           bytea       NOT NULL,
    -- The numbers of the refresh tokens.
    refresh_tokens  text        NOT NULL DEFAULT '0'
) WITH (fillfactor = 85);
CREATE INDEX authorizations_grant ON authorizations (grant_id);
-- Finds codes that nobody has used.
CREATE INDEX authorizations_unused ON authorizations (code_expires_at) WHERE code_use IS NULL;

-- Authorization requests that applications have sent ahead of the person.
CREATE TABLE pushed_requests (
    id          uuid        NOT NULL PRIMARY KEY,
    -- SHA-256 of the token in the request_uri.
    token_hash  bytea       NOT NULL,
    application text        NOT NULL,
    -- With the id as context. It lives for a minute.
    sealed      bytea       NOT NULL,
    expires_at  timestamptz NOT NULL
);
