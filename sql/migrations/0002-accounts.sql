-- Accounts and everything that belongs to them. Deleting an account deletes the rest.

CREATE TABLE accounts (
    id              uuid        NOT NULL PRIMARY KEY,
    email           text,
    email_proved_at timestamptz,
    username        text,
    profile         jsonb       NOT NULL,
    locale          text        NOT NULL,
    flow            text        NOT NULL,
    created_at      timestamptz NOT NULL DEFAULT now()
);

-- The account that has an address or a username. The primary key decides between two sign-ups that want the same one.
CREATE TABLE identifiers (
    kind    text NOT NULL,
    value   text NOT NULL,
    account uuid NOT NULL REFERENCES accounts ON DELETE CASCADE,
    PRIMARY KEY (kind, value)
);
CREATE INDEX identifiers_account ON identifiers (account);

CREATE TABLE credentials (
    account    uuid        NOT NULL REFERENCES accounts ON DELETE CASCADE,
    kind       text        NOT NULL,
    secret     text        NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (account, kind)
);

-- Authenticator apps (RFC 6238).
CREATE TABLE authenticators (
    account    uuid        NOT NULL PRIMARY KEY REFERENCES accounts ON DELETE CASCADE,
    -- The 20 bytes of the secret, sealed with the account's id as context.
    sealed     bytea       NOT NULL,
    -- The time step of the last accepted code. Only codes of later time steps are accepted.
    last_step  bigint      NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);

-- Each code replaces a lost authenticator once. The digest is SHA-256 over its 24 characters, which hold 120 random
-- bits.
CREATE TABLE recovery_codes (
    account uuid  NOT NULL REFERENCES accounts ON DELETE CASCADE,
    digest  bytea NOT NULL,
    PRIMARY KEY (account, digest)
);

CREATE TABLE consents (
    account  uuid        NOT NULL REFERENCES accounts ON DELETE CASCADE,
    field    text        NOT NULL,
    accepted boolean     NOT NULL,
    version  text        NOT NULL,
    document bytea       NOT NULL,
    locale   text        NOT NULL,
    given_at timestamptz NOT NULL,
    PRIMARY KEY (account, field)
);

CREATE TABLE photos (
    account    uuid        NOT NULL REFERENCES accounts ON DELETE CASCADE,
    field      text        NOT NULL,
    type       text        NOT NULL,
    image      bytea       NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (account, field)
);
-- Images are compressed already.
ALTER TABLE photos ALTER COLUMN image SET STORAGE EXTERNAL;
