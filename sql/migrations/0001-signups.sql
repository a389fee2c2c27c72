-- Unfinished sign-ups and everything that belongs to them.
--
-- The values of a draft are sealed with a key that is not in this database. Tables that refer to a draft have no
-- foreign key to it: a day of drafts is dropped as one partition, and the rows that belong to it are deleted with it.

-- The ids are UUIDs of version 7, so the drafts of one day are one range of ids, and one partition.
CREATE TABLE drafts (
    id           uuid        NOT NULL PRIMARY KEY,
    token_hash   bytea       NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT now(),
    ends_at      timestamptz NOT NULL,
    locale       text        NOT NULL,
    -- The account that the draft became.
    account_id   uuid,
    email_digest bytea,
    -- The columns below change with each step. None of them is indexed, so that an update stays in its page (HOT) and
    -- writes little WAL. The idle deadline is computed from updated_at.
    flow         text        NOT NULL,
    revision     integer     NOT NULL DEFAULT 1,
    updated_at   timestamptz NOT NULL DEFAULT now(),
    step         text        NOT NULL,
    sealed       bytea       NOT NULL
) PARTITION BY RANGE (id);

-- Finds the other drafts of an address, which a commit ends. The digest changes only with the address.
CREATE INDEX drafts_email_digest ON drafts (email_digest) WHERE email_digest IS NOT NULL;

-- Finds expired drafts without reading those that became accounts. No step changes these columns.
CREATE INDEX drafts_open ON drafts (id) WHERE account_id IS NULL;

-- Takes ids outside every other partition, such as those of a server with a wrong clock.
CREATE TABLE drafts_other PARTITION OF drafts DEFAULT;

-- The partitions of yesterday and the coming week, so that a new database can take drafts at once. The servers create
-- later ones with create_draft_partition, which cannot be called here because functions are created after all
-- migrations.
DO $$
DECLARE
    day date;
BEGIN
    FOR day IN SELECT (now() AT TIME ZONE 'UTC')::date + number FROM generate_series(-1, 7) AS number LOOP
        EXECUTE format(
            'CREATE TABLE %I PARTITION OF drafts FOR VALUES FROM (%L) TO (%L) WITH (fillfactor = 85)',
            'drafts_' || to_char(day, 'YYYYMMDD'),
            -- The first 48 bits of an id are milliseconds (RFC 9562, section 5.7).
            rpad(lpad(to_hex(extract(epoch FROM day)::bigint * 1000), 12, '0'), 32, '0'),
            rpad(lpad(to_hex(extract(epoch FROM day + 1)::bigint * 1000), 12, '0'), 32, '0'));
    END LOOP;
END
$$;

-- Photos are sealed with their id as context. The sealed values of the draft name that id.
CREATE TABLE draft_photos (
    id     uuid  NOT NULL PRIMARY KEY,
    draft  uuid  NOT NULL,
    field  text  NOT NULL,
    sealed bytea NOT NULL
);
CREATE INDEX draft_photos_draft ON draft_photos (draft);
-- Encrypted bytes cannot be compressed.
ALTER TABLE draft_photos ALTER COLUMN sealed SET STORAGE EXTERNAL;

-- A code that was mailed to an address, and then the fact that the code came back.
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
    -- The mail that carries the code. A newer code makes that mail useless.
    mail           uuid,
    PRIMARY KEY (draft, field)
);

-- Wrong codes of an authenticator that is being set up. Its secret is not stored: it is derived from the draft, the
-- field and the generation, with a key that is not in this database.
CREATE TABLE enrolments (
    draft      uuid          NOT NULL,
    field      text          NOT NULL,
    -- Too many wrong codes start the next generation, and with it a new secret.
    generation integer       NOT NULL DEFAULT 0,
    failures   integer       NOT NULL DEFAULT 0,
    -- When this generation last got wrong codes.
    recent     timestamptz[] NOT NULL DEFAULT '{}',
    PRIMARY KEY (draft, field)
);

-- Usernames and the like that a draft reserves until it ends. The value is a keyed digest.
CREATE TABLE leases (
    kind  text        NOT NULL,
    value bytea       NOT NULL,
    draft uuid        NOT NULL,
    until timestamptz NOT NULL,
    PRIMARY KEY (kind, value)
);
CREATE INDEX leases_draft ON leases (draft);

-- Links that continue a sign-up on another device.
CREATE TABLE handoffs (
    draft      uuid        NOT NULL PRIMARY KEY,
    -- SHA-256 of the token in the link. A newer link makes an older one worthless.
    digest     bytea       NOT NULL,
    mail       uuid        NOT NULL,
    expires_at timestamptz NOT NULL
);

-- Why a draft ended, so that its token gets 410 with the reason.
CREATE TABLE endings (
    token_hash bytea       NOT NULL PRIMARY KEY,
    reason     text        NOT NULL CHECK (reason IN ('cancelled', 'superseded', 'continued-elsewhere', 'expired')),
    until      timestamptz NOT NULL
);
