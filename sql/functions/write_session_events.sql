-- The trigger of `sessions`. The event `account.erased` says enough about the sessions of its account.
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
