-- Moves an account to another username; NULL removes it. Returns false, and changes nothing, if another account has the
-- name.
--
-- Runs as the owner of the tables, as move_address does.

CREATE OR REPLACE FUNCTION rename_account(account uuid, name text)
    RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    IF name IS NOT NULL THEN
        INSERT INTO identifiers (kind, value, account) VALUES ('username', name, rename_account.account)
        ON CONFLICT DO NOTHING;
        IF NOT FOUND THEN
            RETURN false;
        END IF;
    END IF;
    DELETE FROM identifiers
     WHERE identifiers.account = rename_account.account AND kind = 'username' AND value IS DISTINCT FROM name;
    UPDATE accounts SET username = name WHERE id = rename_account.account;
    RETURN true;
END
$$;
