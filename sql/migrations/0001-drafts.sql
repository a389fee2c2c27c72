-- Unfinished sign-ups, and what they become.
--
-- A draft belongs to whoever holds its token; the values are sealed with a key that is not in this database. Ids are
-- UUIDs of version 7, so a day of drafts is a range of ids, and old days are dropped instead of deleted.

CREATE TABLE drafts (
    id           uuid        NOT NULL PRIMARY KEY,
    token_hash   bytea       NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT now(),
    ends_at      timestamptz NOT NULL,
    locale       text        NOT NULL,
    account_id   uuid,
    email_digest bytea,
    -- What a step changes stands side by side and is in no index, so that updates stay in their page and short in the
    -- log. The sliding deadline follows from updated_at.
    flow         text        NOT NULL,
    revision     integer     NOT NULL DEFAULT 1,
    updated_at   timestamptz NOT NULL DEFAULT now(),
    step         text        NOT NULL,
    sealed       bytea       NOT NULL
) PARTITION BY RANGE (id);

-- Changes with the address only. Finds the rivals that a commit ends.
CREATE INDEX drafts_email_digest ON drafts (email_digest) WHERE email_digest IS NOT NULL;

-- Catches what a server with a wrong clock brings.
CREATE TABLE drafts_other PARTITION OF drafts DEFAULT;

-- The smallest id of version 7 that can be made on that day (RFC 9562, section 5.7).
CREATE FUNCTION draft_id_floor(day date) RETURNS uuid LANGUAGE sql IMMUTABLE AS $$
    SELECT (lpad(to_hex((extract(epoch FROM day) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$;

CREATE FUNCTION create_draft_partition(day date) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    partition text := 'drafts_' || to_char(day, 'YYYYMMDD');
BEGIN
    IF to_regclass(partition) IS NULL THEN
        EXECUTE format(
            'CREATE TABLE IF NOT EXISTS %I PARTITION OF drafts FOR VALUES FROM (%L) TO (%L) WITH (fillfactor = 85)',
            partition, draft_id_floor(day), draft_id_floor(day + 1));
    END IF;
END
$$;

SELECT create_draft_partition((now() AT TIME ZONE 'UTC')::date + day) FROM generate_series(-1, 7) AS day;

-- Drafts that were cancelled or superseded: their holders hear 410 and why.
CREATE TABLE endings (
    token_hash bytea       NOT NULL PRIMARY KEY,
    reason     text        NOT NULL CHECK (reason IN ('cancelled', 'superseded')),
    until      timestamptz NOT NULL
);

-- Evidence that the holder of a draft reads the mail of an address, or the code that will show it.
CREATE TABLE proofs (
    draft          uuid        NOT NULL,
    field          text        NOT NULL,
    address_digest bytea       NOT NULL,
    code_digest    bytea,
    generation     integer     NOT NULL DEFAULT 1,
    attempts       integer     NOT NULL DEFAULT 0,
    failures       integer     NOT NULL DEFAULT 0,
    sent_at        timestamptz NOT NULL DEFAULT now(),
    expires_at     timestamptz NOT NULL,
    proved_at      timestamptz,
    PRIMARY KEY (draft, field)
);

-- Public names that a draft holds until it ends. The value is a keyed digest: nothing here names anybody.
CREATE TABLE leases (
    kind  text        NOT NULL,
    value bytea       NOT NULL,
    draft uuid        NOT NULL,
    until timestamptz NOT NULL,
    PRIMARY KEY (kind, value)
);
CREATE INDEX leases_draft ON leases (draft);

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

-- Who was first. The primary key decides races.
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

-- Mail, written with the transaction that caused it and delivered afterwards. A delivered row keeps no address.
CREATE TABLE outbox (
    id            uuid        NOT NULL PRIMARY KEY,
    template      text        NOT NULL,
    sealed        bytea,
    state         text        NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'delivered', 'dead')),
    attempts      integer     NOT NULL DEFAULT 0,
    created_at    timestamptz NOT NULL DEFAULT now(),
    due_at        timestamptz NOT NULL DEFAULT now(),
    useless_after timestamptz NOT NULL,
    finished_at   timestamptz,
    last_error    text,
    CHECK ((sealed IS NOT NULL) = (state = 'waiting'))
);
CREATE INDEX outbox_due ON outbox (due_at) WHERE state = 'waiting';
