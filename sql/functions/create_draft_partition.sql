-- Creates the partition for the drafts of a day, unless it exists. Roles have the same privileges on it as on `drafts`.
--
-- Runs as the owner of the tables, so that a server needs no other right to create tables. The search path is that of
-- the migration: the schema of the tables, and no temporary tables before it.

CREATE OR REPLACE FUNCTION create_draft_partition(day date) RETURNS void LANGUAGE plpgsql
    SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    partition text := 'drafts_' || to_char(day, 'YYYYMMDD');
    given     record;
BEGIN
    -- Only the owner of the tables may create a partition for any day. A server could otherwise fill the database with
    -- partitions.
    IF day NOT BETWEEN (now() AT TIME ZONE 'UTC')::date - 31 AND (now() AT TIME ZONE 'UTC')::date + 31
       AND session_user <> current_user THEN
        RAISE 'the day is too far from today' USING ERRCODE = '22008';
    END IF;
    IF to_regclass(partition) IS NULL THEN
        EXECUTE format(
            'CREATE TABLE IF NOT EXISTS %I PARTITION OF drafts FOR VALUES FROM (%L) TO (%L) WITH (fillfactor = 85)',
            partition, draft_id_floor(day), draft_id_floor(day + 1));
        FOR given IN
            SELECT grantee::regrole AS grantee, privilege_type FROM pg_class, LATERAL aclexplode(relacl)
             WHERE pg_class.oid = 'drafts'::regclass AND grantee NOT IN (0, relowner)
        LOOP
            EXECUTE format('GRANT %s ON %I TO %s', given.privilege_type, partition, given.grantee);
        END LOOP;
    END IF;
END
$$;
