-- Links with which a sign-up goes on on another device.

CREATE TABLE handoffs (
    draft      uuid        NOT NULL PRIMARY KEY,
    -- SHA-256 of what the link carries. A newer link makes an older one worthless.
    digest     bytea       NOT NULL,
    mail       uuid        NOT NULL,
    expires_at timestamptz NOT NULL
);

ALTER TABLE endings
    DROP CONSTRAINT endings_reason_check,
    ADD CONSTRAINT endings_reason_check CHECK (reason IN ('cancelled', 'superseded', 'continued-elsewhere'));
