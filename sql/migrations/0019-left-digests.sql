-- Finds the digests that a server of an earlier version leaves in mail that waits no more, without reading all of it each
-- minute. No row of this version is ever in the index.
CREATE INDEX outbox_left_digests ON outbox (id) WHERE state <> 'waiting' AND recipient IS NOT NULL;
