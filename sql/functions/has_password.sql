-- Whether the account's password still has that hash. Until the transaction ends, nobody can change it.
--
-- Runs as the owner of the tables, as password_hash does.

CREATE OR REPLACE FUNCTION has_password(account uuid, hash text) RETURNS boolean LANGUAGE plpgsql
    SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    PERFORM 1 FROM credentials
      WHERE credentials.account = has_password.account AND kind = 'password' AND secret = hash FOR SHARE;
    RETURN FOUND;
END
$$;
