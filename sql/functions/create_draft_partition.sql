-- Creates the partition for the drafts of a day, unless it exists.

CREATE OR REPLACE FUNCTION create_draft_partition(day date) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    partition text := 'drafts_' || to_char(day, 'YYYYMMDD');
BEGIN
    IF to_regclass(partition) IS NULL THEN
        EXECUTE format(
            'CREATE TABLE IF NOT EXISTS %I PARTITION OF drafts FOR VALUES FROM (%L) TO (%L) WITH (fillfactor = 85)',
            partition, draft_id_floor(day), draft_id_floor(day + 1));
    END IF;
END
$$;
