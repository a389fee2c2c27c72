-- The turn of a new mail from that network: now, or one minute after the last new mail of the network that waits. So
-- the mail of a network that causes much of it waits for the mail of other networks, but only for as much as they cause
-- meanwhile.
--
-- Two mails of one network may get the same turn if they are inserted at the same moment. This is harmless: they are
-- rate-limited as others are.

CREATE OR REPLACE FUNCTION mail_turn(sender bytea) RETURNS timestamptz LANGUAGE plpgsql STABLE
    -- A plan made while the table is small would read all of it, and would be kept.
    SET enable_seqscan = off
    SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    RETURN greatest(now(), (SELECT max(turn) + interval '1 minute' FROM outbox
                             WHERE network = sender AND state = 'waiting' AND attempts = 0));
END
$$;
