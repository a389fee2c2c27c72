-- Replaces the hash of the account's password, if it is still the old one. NULL stands for any, and for none. Returns
-- whether it was.
--
-- Only a password that replaces any other is a change to the person, unless the account is new; otherwise the hash of the
-- same password was made again.
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
