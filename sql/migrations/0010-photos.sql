-- Images that people send: a photo of a draft, sealed like the rest of it, and one of an account.

CREATE TABLE draft_photos (
    id     uuid  NOT NULL PRIMARY KEY,
    draft  uuid  NOT NULL,
    field  text  NOT NULL,
    -- Sealed for the id, which the draft's own values name.
    sealed bytea NOT NULL
);
CREATE INDEX draft_photos_draft ON draft_photos (draft);
-- It cannot be made smaller.
ALTER TABLE draft_photos ALTER COLUMN sealed SET STORAGE EXTERNAL;

CREATE TABLE photos (
    account    uuid        NOT NULL REFERENCES accounts ON DELETE CASCADE,
    field      text        NOT NULL,
    type       text        NOT NULL,
    image      bytea       NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (account, field)
);
ALTER TABLE photos ALTER COLUMN image SET STORAGE EXTERNAL;

-- As before, and takes photos along.
CREATE OR REPLACE FUNCTION drop_past_draft_partitions(life interval) RETURNS bigint LANGUAGE plpgsql AS $$
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
        DELETE FROM draft_photos WHERE draft >= draft_id_floor(day) AND draft < draft_id_floor(day + 1);
        RETURN 1;
    END LOOP;
    RETURN 0;
END
$$;
