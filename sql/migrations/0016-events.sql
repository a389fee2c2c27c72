-- Events: what applications hear about accounts. The transaction that changes an account writes them, by triggers.

-- What each application of APPLICATIONS_FILE wants to hear. Every server writes this at its start. No row is written for
-- an event that no application wants.
CREATE TABLE applications (
    id                 text        NOT NULL PRIMARY KEY,
    events             text[]      NOT NULL,
    has_webhook        boolean     NOT NULL,
    backchannel_logout boolean     NOT NULL,
    -- `off` after the webhook has answered 410, until an operator retries.
    state              text        NOT NULL DEFAULT 'on' CHECK (state IN ('on', 'off')),
    -- Failed attempts since the last successful one.
    failures           integer     NOT NULL DEFAULT 0,
    -- No server sends an event before.
    paused_until       timestamptz NOT NULL DEFAULT now()
);

-- The number of the last event of each account. The row stays locked until the transaction ends, so events become visible
-- in the order of their numbers. No event follows the erasure of an account, which deletes the row.
CREATE TABLE event_sequences (
    account uuid   NOT NULL PRIMARY KEY,
    last    bigint NOT NULL
) WITH (fillfactor = 70);

-- No personal data: what an event says about its account is read from the account when the event is sent. So nothing is
-- left of an erased account but its id.
CREATE TABLE events (
    -- A UUID of version 7.
    id         uuid        NOT NULL PRIMARY KEY,
    account    uuid        NOT NULL,
    sequence   bigint      NOT NULL,
    type       text        NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    -- Readers see an event only after all transactions that began before it have ended, so that they miss none.
    xid        xid8        NOT NULL DEFAULT pg_current_xact_id(),
    UNIQUE (account, sequence)
);
CREATE INDEX events_xid ON events (xid, id);

-- Events that an application has not received yet. No foreign key to the application: its check would make the person
-- wait for a server that removes the application.
CREATE TABLE deliveries (
    event       uuid        NOT NULL REFERENCES events ON DELETE CASCADE,
    application text        NOT NULL,
    account     uuid        NOT NULL,
    sequence    bigint      NOT NULL,
    state       text        NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'failed')),
    attempts    integer     NOT NULL DEFAULT 0,
    due_at      timestamptz NOT NULL DEFAULT now(),
    last_error  text,
    PRIMARY KEY (event, application)
);
CREATE INDEX deliveries_due ON deliveries (application, due_at) WHERE state = 'waiting';
-- Finds the events of the same account that go first. The condition has another form, so that a query by account does not
-- use the other index.
CREATE INDEX deliveries_order ON deliveries (application, account, sequence) WHERE state <> 'failed';

-- Grants that have ended, and whose applications do not know that yet (OpenID Connect Back-Channel Logout).
CREATE TABLE logouts (
    -- The id of the grant.
    sid         uuid        NOT NULL PRIMARY KEY,
    application text        NOT NULL,
    account     uuid        NOT NULL,
    attempts    integer     NOT NULL DEFAULT 0,
    created_at  timestamptz NOT NULL DEFAULT now(),
    due_at      timestamptz NOT NULL DEFAULT now(),
    last_error  text
);
CREATE INDEX logouts_due ON logouts (application, due_at);

-- These functions do nothing until sql/functions replaces them, at the end of the same migration.
CREATE FUNCTION write_account_events() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE FUNCTION write_session_events() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE FUNCTION write_factor_events() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE FUNCTION write_logout() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';

CREATE TRIGGER write_account_events AFTER INSERT OR DELETE OR UPDATE OF email, username, profile, disabled_at
    ON accounts FOR EACH ROW EXECUTE FUNCTION write_account_events();
CREATE TRIGGER write_session_events AFTER INSERT OR DELETE ON sessions
    FOR EACH ROW EXECUTE FUNCTION write_session_events();
-- Only another app sets created_at; a code or a rotation of the keys does not.
CREATE TRIGGER write_factor_events AFTER INSERT OR DELETE OR UPDATE OF created_at ON authenticators
    FOR EACH ROW EXECUTE FUNCTION write_factor_events();
CREATE TRIGGER write_logout AFTER DELETE ON grants FOR EACH ROW EXECUTE FUNCTION write_logout();
