-- Lets the owner of an address sign up after strangers have used up its mails and guesses of the day: each mail with a
-- code also carries a ticket, which its reader exchanges once for a code outside of these limits.

CREATE TABLE tickets (
    id             uuid        NOT NULL PRIMARY KEY,
    -- SHA-256 of the ticket.
    digest         bytea       NOT NULL,
    -- The field of the code in the mail.
    field          text        NOT NULL,
    -- Finds the tickets of an address that an operator erases. Not indexed: this is rare, and there are few tickets.
    address_digest bytea       NOT NULL,
    -- The address, with the id as context. A ticket outlives the draft that caused its mail.
    sealed         bytea       NOT NULL,
    expires_at     timestamptz NOT NULL
);

-- The generation of a code that was exchanged for a ticket: a guess at it does not count against the limit of the address.
-- A server of the version before makes the next generation without a ticket, and leaves this column alone.
ALTER TABLE proofs ADD COLUMN ticket_generation integer;
