-- Returns the kinds of imported hashes that accounts still have, without their salts. Jumps from kind to kind in the
-- index, so the number of accounts makes no difference.
--
-- Runs as the owner of the tables, as password_hash does.

CREATE OR REPLACE FUNCTION imported_kinds() RETURNS SETOF text LANGUAGE plpgsql STABLE
    SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    found_kind text := '';
BEGIN
    LOOP
        SELECT split_part(secret, '|', 1) INTO found_kind FROM credentials
         WHERE secret LIKE '%|%' AND split_part(secret, '|', 1) > found_kind
         ORDER BY split_part(secret, '|', 1) LIMIT 1;
        EXIT WHEN NOT FOUND;
        RETURN NEXT found_kind;
    END LOOP;
END
$$;
