-- Deletes an account that the current transaction has inserted, with everything that refers to it. Another account stays.
--
-- Runs as the owner of the tables, so that a server that commits sign-ups needs no right to delete accounts. The search
-- path is that of the migration: the schema of the tables, and no temporary tables before it.

CREATE OR REPLACE FUNCTION undo_account(account uuid) RETURNS void LANGUAGE sql
    SECURITY DEFINER SET search_path FROM CURRENT AS $$
    DELETE FROM accounts WHERE id = undo_account.account AND xmin = pg_current_xact_id()::xid
$$;
