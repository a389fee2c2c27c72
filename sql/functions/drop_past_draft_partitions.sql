-- Drops the oldest expired partition of drafts, with the rows that belong to its drafts. Returns 1 or 0: a drop locks the
-- whole table drafts until the transaction ends, so one call drops at most one.
--
-- A partition has expired a day after its last draft. If it then has an unfinished draft, for example after an outage,
-- the reaper has not erased and counted that draft yet. So the partition is kept, but a week at most: no draft is kept
-- for ever, even if the reaper cannot erase it. `life` is the maximum lifetime of a draft that no operator has extended.
-- A lock that takes longer than 200 ms is given up, because every other statement would queue behind it; the next sweep
-- tries again.
--
-- Runs as the owner of the tables, so that a server needs no other right to drop tables. The search path is that of the
-- migration, as in create_draft_partition.

CREATE OR REPLACE FUNCTION drop_past_draft_partitions(life interval) RETURNS bigint LANGUAGE plpgsql
    SECURITY DEFINER SET search_path FROM CURRENT AS $$
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
           AND to_date(right(relname, 8), 'YYYYMMDD') + interval '2 days' + greatest(life, interval '0') < now() AT TIME ZONE 'UTC'
         ORDER BY relname
    LOOP
        BEGIN
            EXECUTE format('LOCK TABLE %I IN SHARE MODE', partition);
            EXECUTE format(
                'SELECT NOT EXISTS (SELECT FROM %I WHERE ends_at > now() - CASE WHEN account_id IS NULL
                                                                                THEN interval ''8 days''
                                                                                ELSE interval ''1 day'' END)',
                partition
            ) INTO is_past;
            CONTINUE WHEN NOT is_past;
            EXECUTE format('DROP TABLE %I', partition);
        EXCEPTION WHEN lock_not_available THEN
            RETURN 0;
        END;
        DELETE FROM proofs WHERE draft >= draft_id_floor(day) AND draft < draft_id_floor(day + 1);
        DELETE FROM enrolments WHERE draft >= draft_id_floor(day) AND draft < draft_id_floor(day + 1);
        DELETE FROM draft_photos WHERE draft >= draft_id_floor(day) AND draft < draft_id_floor(day + 1);
        RETURN 1;
    END LOOP;
    RETURN 0;
END
$$;
