-- Consents that were withdrawn, or replaced by a consent to another version. They stay as evidence of what the person had
-- agreed to, and when.
CREATE TABLE past_consents (
    account  uuid        NOT NULL REFERENCES accounts ON DELETE CASCADE,
    field    text        NOT NULL,
    accepted boolean     NOT NULL,
    version  text        NOT NULL,
    document bytea       NOT NULL,
    locale   text        NOT NULL,
    given_at timestamptz NOT NULL,
    ended_at timestamptz NOT NULL,
    PRIMARY KEY (account, field, ended_at)
);
