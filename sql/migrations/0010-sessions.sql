-- Sign-in: the sessions of accounts, and what protects accounts from guesses.

-- An account that an operator has disabled: nobody can sign in, and its sessions do not count.
ALTER TABLE accounts ADD COLUMN disabled_at timestamptz;

-- The number of authenticator apps that were added after the sign-up. The secret of the next one is derived from it.
ALTER TABLE accounts ADD COLUMN authenticators_added integer NOT NULL DEFAULT 0;

CREATE TABLE sessions (
    id           uuid        NOT NULL PRIMARY KEY,
    account      uuid        NOT NULL REFERENCES accounts ON DELETE CASCADE,
    -- SHA-256 of the token.
    token_hash   bytea       NOT NULL,
    -- The number of factors: the authenticator assurance level of NIST SP 800-63B.
    assurance    integer     NOT NULL CHECK (assurance IN (1, 2)),
    -- How the person has signed in, in words of RFC 8176 with spaces between them.
    methods      text        NOT NULL,
    -- Whether the session outlives the browser.
    is_kept      boolean     NOT NULL,
    -- When the person last proved who they are.
    auth_time    timestamptz NOT NULL DEFAULT now(),
    created_at   timestamptz NOT NULL DEFAULT now(),
    last_seen_at timestamptz NOT NULL DEFAULT now(),
    -- The session is idle from this time after last_seen_at, and over at ends_at.
    idle_after   interval    NOT NULL,
    ends_at      timestamptz NOT NULL,
    -- Wrong confirmations since the last right one.
    failures     integer     NOT NULL DEFAULT 0,
    -- Random bytes from which a commit derives the token of its session; null for every other session.
    nonce        bytea,
    -- The network and the browser of the sign-in, with the id as context.
    sealed       bytea       NOT NULL
) WITH (fillfactor = 85);
CREATE INDEX sessions_account ON sessions (account);
-- Finds expired sessions. No request but a confirmation changes ends_at, so that an update stays in its page (HOT).
CREATE INDEX sessions_ends_at ON sessions (ends_at);

-- Sign-ins that wait for a second factor or for a mailed code.
CREATE TABLE sign_ins (
    id          uuid        NOT NULL PRIMARY KEY,
    -- SHA-256 of the token.
    token_hash  bytea       NOT NULL,
    awaits      text        NOT NULL CHECK (awaits IN ('second-factor', 'code')),
    -- Null for a code that was asked for without an account: then no code is right. No foreign key, because its check
    -- would take time for an account only.
    account     uuid,
    -- As in sessions, of the factors so far.
    methods     text        NOT NULL,
    attempts    integer     NOT NULL DEFAULT 0,
    -- Keyed digest of the mailed code.
    code_digest bytea,
    -- What the person typed to ask for a code, with the id as context; null if guesses have no limit but attempts. It is
    -- not encrypted again when the keys rotate, because the row lives for ten minutes.
    sealed      bytea,
    expires_at  timestamptz NOT NULL
);
CREATE INDEX sign_ins_account ON sign_ins (account);

-- Browsers that have signed in to an account before. Guesses of strangers do not affect them.
CREATE TABLE devices (
    account      uuid        NOT NULL REFERENCES accounts ON DELETE CASCADE,
    -- SHA-256 of the token in the cookie.
    digest       bytea       NOT NULL,
    last_used_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (account, digest)
);
CREATE INDEX devices_last_used_at ON devices (last_used_at);

-- Failed sign-ins in a row. An address or a username without an account has rows too.
CREATE TABLE sign_in_failures (
    -- A keyed digest of what was typed, alone or with the network, or of the device.
    subject bytea       NOT NULL PRIMARY KEY,
    count   integer     NOT NULL,
    -- The count is forgotten from then on.
    until   timestamptz NOT NULL
) WITH (fillfactor = 60);
