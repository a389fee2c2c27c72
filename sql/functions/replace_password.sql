-- Replaces the hash of the account's password if it is still `old`, and returns whether it was. If `old` is NULL,
-- replaces any hash, or stores the first one, and returns true.
--
-- Writes the event `password.changed` only if `old` is NULL and the account is not new. With an `old` hash, the new
-- hash is of the same password.
--
-- Runs as the owner of the tables, as password_hash does.

CREATE OR REPLACE FUNCTION replace_password(account uuid, old text, new text) RETURNS boolean LANGUAGE plpgsql
    SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    IF old IS NULL THEN
        INSERT INTO credentials (account, kind, secret) VALUES (replace_password.account, 'password', new)
        ON CONFLICT ON CONSTRAINT credentials_pkey DO UPDATE SET secret = new;
        PERFORM write_event(id, 'password.changed') FROM accounts
          WHERE id = replace_password.account AND created_at < now();
        RETURN true;
    END IF;
    UPDATE credentials SET secret = new
     WHERE credentials.account = replace_password.account AND kind = 'password' AND secret = old;
    RETURN FOUND;
END
$$;
