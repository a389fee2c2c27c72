-- What erases drafts that nobody can read any more.

-- Finds them without looking at those that became accounts. No step changes these columns, so updates stay in their page.
CREATE INDEX drafts_open ON drafts (id) WHERE account_id IS NULL;

-- The smallest id of version 7 that can be made at that instant (RFC 9562, section 5.7).
CREATE FUNCTION draft_id_floor(instant timestamptz) RETURNS uuid LANGUAGE sql IMMUTABLE AS $$
    SELECT (lpad(to_hex((extract(epoch FROM instant) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$;

-- Drops the oldest day of which nothing is remembered any more, with whatever belongs to drafts of its, and returns how many
-- it dropped: one or none, since all drafts are locked from then until the transaction ends. A draft lives so long, unless
-- somebody has lengthened its life. Whoever waits longer than a moment for a lock gives up, since everybody else would wait
-- behind: the next sweep tries again.
CREATE FUNCTION drop_past_draft_partitions(life interval) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    partition name;
    day       date;
    is_past   boolean;
BEGIN
    PERFORM set_config('lock_timeout', '200ms', true);
    FOR partition, day IN
        SELECT relname, to_date(right(relname, 8), 'YYYYMMDD')
          FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
         WHERE inhparent = 'drafts'::regclass AND relname ~ '^drafts_[0-9]{8}$'
           AND to_date(right(relname, 8), 'YYYYMMDD') + interval '2 days' + life < now() AT TIME ZONE 'UTC'
         ORDER BY relname
    LOOP
        BEGIN
            EXECUTE format('LOCK TABLE %I IN SHARE MODE', partition);
            EXECUTE format('SELECT NOT EXISTS (SELECT FROM %I WHERE ends_at > now() - interval ''1 day'')', partition)
               INTO is_past;
            CONTINUE WHEN NOT is_past;
            EXECUTE format('DROP TABLE %I', partition);
        EXCEPTION WHEN lock_not_available THEN
            RETURN 0;
        END;
        DELETE FROM proofs WHERE draft >= draft_id_floor(day) AND draft < draft_id_floor(day + 1);
        DELETE FROM enrolments WHERE draft >= draft_id_floor(day) AND draft < draft_id_floor(day + 1);
        RETURN 1;
    END LOOP;
    RETURN 0;
END
$$;

ALTER TABLE endings
    DROP CONSTRAINT endings_reason_check,
    ADD CONSTRAINT endings_reason_check
        CHECK (reason IN ('cancelled', 'superseded', 'continued-elsewhere', 'expired'));
