-- Moves an account to an address that was proved just now. Its old address stays reserved until the given time.
--
-- Runs as the owner of the tables, so that a server needs no right to change identifiers. Fails if another transaction has
-- taken the address in the meantime.

CREATE OR REPLACE FUNCTION move_address(account uuid, address text, until timestamptz)
    RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO identifiers (kind, value, account) VALUES ('email', address, move_address.account)
    ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the address is taken' USING ERRCODE = 'serialization_failure';
    END IF;
    UPDATE identifiers SET reserved_until = until
     WHERE identifiers.account = move_address.account AND kind = 'email' AND value <> address AND reserved_until IS NULL;
    UPDATE accounts SET email = address, email_proved_at = now() WHERE id = move_address.account;
END
$$;
