-- Recovery, and changes of the address of an account.

-- Grows with each change of what protects the account. A recovery that has begun before has no use any more.
ALTER TABLE accounts ADD COLUMN credentials_version integer NOT NULL DEFAULT 0;

-- Finds expired drafts that are not sign-ups. They live for an hour, sign-ups for days.
CREATE INDEX drafts_changes ON drafts (ends_at) WHERE flow LIKE '%/%' AND account_id IS NULL;

-- Set for an address that an account has left. Nobody can use it until then, and it does not find the account.
ALTER TABLE identifiers ADD COLUMN reserved_until timestamptz;
CREATE INDEX identifiers_reserved ON identifiers (reserved_until) WHERE reserved_until IS NOT NULL;

-- The addresses that accounts have left, for as long as their owners can restore them.
CREATE TABLE address_changes (
    id         uuid        NOT NULL PRIMARY KEY,
    account    uuid        NOT NULL REFERENCES accounts ON DELETE CASCADE,
    -- SHA-256 of the token in the mail to the old address.
    token_hash bytea       NOT NULL,
    -- The old address, with the id as context.
    sealed     bytea       NOT NULL,
    changed_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL
);
CREATE INDEX address_changes_account ON address_changes (account);
