-- Delivers mail in parallel: networks take turns, and each address gets one mail at a time, in order.

ALTER TABLE outbox
    -- Keyed digests of the network that has caused the mail, which changes daily, and of the recipient. A mail keeps
    -- them while it waits.
    ADD COLUMN network       bytea,
    ADD COLUMN recipient     bytea,
    -- Due mail is claimed in this order. It gives no time of delivery: mail of a later turn is sent now if no other is due.
    ADD COLUMN turn          timestamptz NOT NULL DEFAULT now(),
    -- A server may be delivering the mail until then.
    ADD COLUMN sending_until timestamptz;

-- New mail is due at once, so an index can have it in the order of its turns.
DROP INDEX outbox_due;
CREATE INDEX outbox_turn ON outbox (turn) WHERE state = 'waiting' AND attempts = 0;
CREATE INDEX outbox_retry ON outbox (due_at) WHERE state = 'waiting' AND attempts > 0;
CREATE INDEX outbox_network ON outbox (network, turn) WHERE state = 'waiting' AND attempts = 0;
CREATE INDEX outbox_recipient ON outbox (recipient) WHERE state = 'waiting';
