-- Creates accounts of another system, each with its identifiers and the hash of its password, and writes an audit record
-- for each. Returns what became of each: `imported`, `present` if an earlier import has created it, or the kind of the
-- identifier that another account has.
--
-- Runs as the owner of the tables, so that an operator needs no right to give an existing account another password. The
-- search path is that of the migration: the schema of the tables, and no temporary tables before it.

CREATE OR REPLACE FUNCTION import_accounts(entries jsonb, operator text, host text, reason text)
    RETURNS TABLE (id uuid, outcome text) LANGUAGE plpgsql
    SECURITY DEFINER SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
    entry record;
BEGIN
    -- Two imports of the same file take turns.
    PERFORM pg_advisory_xact_lock('accounts'::regclass::oid::bigint);
    FOR entry IN
        SELECT * FROM jsonb_to_recordset(entries) AS listed (
            id uuid, email text, is_proved boolean, username text, profile jsonb, locale text, secret text,
            created_at timestamptz)
    LOOP
        IF entry.secret !~ '^[a-z0-9,$./=A-Z-]+[|][A-Za-z0-9+/=]+[|][$]argon2id[$]' THEN
            RAISE EXCEPTION 'the secret of an entry is not an imported hash';
        END IF;
        import_accounts.id := entry.id;
        INSERT INTO accounts (id, email, email_proved_at, username, profile, locale, flow, created_at)
        VALUES (entry.id, entry.email, CASE WHEN entry.is_proved THEN entry.created_at END, entry.username,
                entry.profile, entry.locale, 'import', entry.created_at)
        ON CONFLICT DO NOTHING;
        IF NOT FOUND THEN
            outcome := 'present';
            RETURN NEXT;
            CONTINUE;
        END IF;
        INSERT INTO identifiers (kind, value, account)
        SELECT kind, value, entry.id FROM (VALUES ('email', entry.email), ('username', entry.username)) AS own (kind, value)
         WHERE value IS NOT NULL
        ON CONFLICT DO NOTHING;
        SELECT kind INTO outcome FROM (VALUES ('email', entry.email), ('username', entry.username)) AS own (kind, value)
         WHERE value IS NOT NULL AND NOT EXISTS (
                   SELECT FROM identifiers AS other
                    WHERE other.kind = own.kind AND other.value = own.value AND other.account = entry.id)
         ORDER BY kind LIMIT 1;
        IF FOUND THEN
            DELETE FROM accounts WHERE accounts.id = entry.id;
            RETURN NEXT;
            CONTINUE;
        END IF;
        INSERT INTO credentials (account, kind, secret)
        SELECT entry.id, 'password', entry.secret WHERE entry.secret IS NOT NULL;
        INSERT INTO audit (operator, host, reason, act, subject)
        VALUES (import_accounts.operator, import_accounts.host, import_accounts.reason, 'import account', entry.id);
        outcome := 'imported';
        RETURN NEXT;
    END LOOP;
END
$$;

-- For commands of the version before, which record neither the machine nor a reason.
CREATE OR REPLACE FUNCTION import_accounts(entries jsonb, operator text) RETURNS TABLE (id uuid, outcome text)
    LANGUAGE sql AS $$
    SELECT * FROM import_accounts(entries, operator, NULL, NULL)
$$;
