-- The trigger of `accounts`: writes the events of an account that is created, changed or erased. The creation by an import
-- is no event: the applications know its accounts from elsewhere.
--
-- Runs as the owner of the tables, because only the owner may call write_event.

CREATE OR REPLACE FUNCTION write_account_events() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        IF NEW.flow <> 'import' THEN
            PERFORM write_event(NEW.id, 'account.created');
        END IF;
    ELSIF TG_OP = 'DELETE' THEN
        -- A commit that is undone, or an import whose identifier is taken: the account has never existed, so its events
        -- go, too.
        IF OLD.xmin = pg_current_xact_id()::xid THEN
            DELETE FROM events WHERE account = OLD.id;
        ELSE
            PERFORM write_event(OLD.id, 'account.erased');
        END IF;
        DELETE FROM event_sequences WHERE account = OLD.id;
    ELSE
        -- One event for each transaction, which may change the account by several statements.
        IF (NEW.email, NEW.username, NEW.profile) IS DISTINCT FROM (OLD.email, OLD.username, OLD.profile)
           AND NOT EXISTS (
               SELECT FROM events
                WHERE account = NEW.id AND type = 'account.updated' AND xid = pg_current_xact_id()) THEN
            PERFORM write_event(NEW.id, 'account.updated');
        END IF;
        IF NEW.email IS DISTINCT FROM OLD.email THEN
            -- A change leaves the old address reserved for the account. If it is not, the owner of an earlier address has
            -- undone a change.
            PERFORM write_event(NEW.id, CASE
                WHEN OLD.email IS NULL OR EXISTS (
                    SELECT FROM identifiers WHERE kind = 'email' AND value = OLD.email AND account = NEW.id)
                THEN 'email.changed' ELSE 'email.restored' END);
        END IF;
        IF (NEW.disabled_at IS NULL) <> (OLD.disabled_at IS NULL) THEN
            PERFORM write_event(
                NEW.id, CASE WHEN NEW.disabled_at IS NULL THEN 'account.enabled' ELSE 'account.disabled' END);
        END IF;
    END IF;
    RETURN NULL;
END
$$;
