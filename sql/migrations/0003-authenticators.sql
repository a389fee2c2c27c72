-- Authenticator apps (RFC 6238): those that are being set up, and those of accounts.

-- Wrong codes of drafts. The secret is nowhere: it follows from the draft, the field and the generation, under a key that
-- is not in this database.
CREATE TABLE enrolments (
    draft      uuid          NOT NULL,
    field      text          NOT NULL,
    -- Too many wrong codes end a generation, and with it its secret.
    generation integer       NOT NULL DEFAULT 0,
    failures   integer       NOT NULL DEFAULT 0,
    -- When the wrong codes of late were given to this generation.
    recent     timestamptz[] NOT NULL DEFAULT '{}',
    PRIMARY KEY (draft, field)
);

CREATE TABLE authenticators (
    account    uuid        NOT NULL PRIMARY KEY REFERENCES accounts ON DELETE CASCADE,
    -- The 20 bytes of the secret, sealed for the account's id.
    sealed     bytea       NOT NULL,
    -- The step of the last code that was accepted: only those of later steps may be.
    last_step  bigint      NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);

-- What helps where the authenticator is lost, each once: SHA-256 over the 24 characters, of 120 random bits.
CREATE TABLE recovery_codes (
    account uuid  NOT NULL REFERENCES accounts ON DELETE CASCADE,
    digest  bytea NOT NULL,
    PRIMARY KEY (account, digest)
);
