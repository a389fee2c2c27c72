-- Gives an account back an address that it has left, and releases those that it got afterwards. Returns whether the
-- address was reserved for the account.
--
-- The person who changed the address may be a thief who knows the password, and may have added an authenticator shortly
-- before or afterwards. So the password and such an authenticator are deleted. An older authenticator stays with its
-- recovery codes: otherwise a reader of the mail of an address that the owner has left on purpose could take over the
-- account.
--
-- Runs as the owner of the tables, as move_address does.

CREATE OR REPLACE FUNCTION restore_address(account uuid, address text, left_at timestamptz)
    RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    reserved timestamptz;
BEGIN
    SELECT reserved_until INTO reserved FROM identifiers
     WHERE identifiers.account = restore_address.account AND kind = 'email' AND value = address FOR UPDATE;
    IF reserved IS NULL THEN
        RETURN false;
    END IF;
    DELETE FROM identifiers
     WHERE identifiers.account = restore_address.account AND kind = 'email' AND value <> address
       AND (reserved_until IS NULL OR reserved_until > reserved);
    UPDATE identifiers SET reserved_until = NULL WHERE kind = 'email' AND value = address;
    UPDATE accounts SET email = address, email_proved_at = now() WHERE id = restore_address.account;
    DELETE FROM credentials WHERE credentials.account = restore_address.account AND kind = 'password';
    DELETE FROM authenticators
     WHERE authenticators.account = restore_address.account AND created_at > left_at - interval '7 days';
    IF FOUND THEN
        DELETE FROM recovery_codes WHERE recovery_codes.account = restore_address.account;
    END IF;
    RETURN true;
END
$$;
