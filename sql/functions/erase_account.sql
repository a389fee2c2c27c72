-- Deletes an account with everything that refers to it, and the waiting mail about it. Returns whether it existed.
--
-- Runs as the owner of the tables, so that a server needs no right to delete many accounts at once. The search path is
-- that of the migration: the schema of the tables, and no temporary tables before it.

CREATE OR REPLACE FUNCTION erase_account(account uuid) RETURNS boolean LANGUAGE plpgsql
    SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    DELETE FROM outbox WHERE outbox.account = erase_account.account AND state = 'waiting';
    DELETE FROM accounts WHERE id = erase_account.account;
    RETURN FOUND;
END
$$;
