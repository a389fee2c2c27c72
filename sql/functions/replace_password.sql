-- Replaces the hash of the account's password, if it is still the old one; NULL stands for any. Returns whether it was.
--
-- Runs as the owner of the tables, as password_hash does.

CREATE OR REPLACE FUNCTION replace_password(account uuid, old text, new text) RETURNS boolean LANGUAGE plpgsql
    SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    UPDATE credentials SET secret = new
     WHERE credentials.account = replace_password.account AND kind = 'password' AND (old IS NULL OR secret = old);
    RETURN FOUND;
END
$$;
