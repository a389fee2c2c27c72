-- Returns how many accounts have a password hashed with each pepper, by the parameter `keyid` of the hash.
--
-- Runs as the owner of the tables, so that an operator who rotates the keys needs no right to read hashes. The search path
-- is that of the migration: the schema of the tables, and no temporary tables before it.

CREATE OR REPLACE FUNCTION pepper_usage() RETURNS TABLE (pepper text, accounts bigint) LANGUAGE sql STABLE
    SECURITY DEFINER SET search_path FROM CURRENT AS $$
    SELECT substring(secret FROM ',keyid=([^$]*)'), count(*) FROM credentials
     WHERE kind = 'password' AND secret LIKE '%,keyid=%' GROUP BY 1
$$;
