-- Returns the hash of the account's password; null if it has none.
--
-- Runs as the owner of the tables, so that a server needs no right to read all hashes at once. The search path is that of
-- the migration: the schema of the tables, and no temporary tables before it.

CREATE OR REPLACE FUNCTION password_hash(account uuid) RETURNS text LANGUAGE sql STABLE
    SECURITY DEFINER SET search_path FROM CURRENT AS $$
    SELECT secret FROM credentials WHERE credentials.account = password_hash.account AND kind = 'password'
$$;
