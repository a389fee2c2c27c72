-- Removes the authenticator app of an account with its recovery codes, and writes an audit record. Returns whether the
-- account had an app.
--
-- `subjects` identify the counts of failed sign-ins with the identifiers of the account. This raises each of them to at
-- least `failures`, so that a device that the account does not know needs a mailed code before a password.
--
-- Runs as the owner of the tables, so that an operator can neither remove an app without a record nor write failures.
-- The search path is that of the migration: the schema of the tables, and no temporary tables before it.

CREATE OR REPLACE FUNCTION remove_authenticator(
    account uuid, operator text, host text, reason text, subjects bytea[], failures bigint, until timestamptz)
    RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    DELETE FROM authenticators WHERE authenticators.account = remove_authenticator.account;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    DELETE FROM recovery_codes WHERE recovery_codes.account = remove_authenticator.account;
    INSERT INTO sign_in_failures AS stored (subject, count, until)
    SELECT listed.subject, failures, remove_authenticator.until FROM unnest(subjects) AS listed (subject) ORDER BY 1
    ON CONFLICT (subject) DO UPDATE
       SET count = greatest(stored.count, excluded.count), until = greatest(stored.until, excluded.until);
    INSERT INTO audit (operator, host, reason, act, subject)
    VALUES (remove_authenticator.operator, remove_authenticator.host, remove_authenticator.reason,
            'remove authenticator', remove_authenticator.account);
    RETURN true;
END
$$;

-- For commands of the version before, which record neither the machine nor a reason.
CREATE OR REPLACE FUNCTION remove_authenticator(
    account uuid, operator text, subjects bytea[], failures bigint, until timestamptz) RETURNS boolean
    LANGUAGE sql AS $$
    SELECT remove_authenticator(account, operator, NULL, NULL, subjects, failures, until)
$$;
