-- Releases the addresses whose reservation is over. Returns their number.
--
-- Runs as the owner of the tables, as move_address does.

CREATE OR REPLACE FUNCTION release_addresses() RETURNS bigint LANGUAGE sql
    SECURITY DEFINER SET search_path FROM CURRENT AS $$
    WITH released AS (DELETE FROM identifiers WHERE reserved_until < now() RETURNING 1)
    SELECT count(*) FROM released
$$;
