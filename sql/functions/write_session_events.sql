-- The trigger of `sessions`: writes an event for a session that begins or ends. The sessions of an erased account are
-- deleted after its row, so they write none: `account.erased` says enough.
--
-- Runs as the owner of the tables, because only the owner may call write_event.

CREATE OR REPLACE FUNCTION write_session_events() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM write_event(NEW.account, 'session.created');
    ELSE
        PERFORM write_event(id, 'session.ended') FROM accounts WHERE id = OLD.account;
    END IF;
    RETURN NULL;
END
$$;
