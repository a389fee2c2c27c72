-- Deletes an account, the rows that refer to it with a foreign key, and the waiting mail about it. Returns whether the
-- account existed. Its events, its audit records, and mail about it that is delivered or dead keep its id.
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
