-- The trigger of `authenticators`. An app that is set up in the sign-up is part of the event `account.created`, and
-- `account.erased` says enough about the app of its account.
--
-- Runs as the owner of the tables, because only the owner may call write_event.

CREATE OR REPLACE FUNCTION write_factor_events() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        PERFORM write_event(id, 'factor.removed') FROM accounts WHERE id = OLD.account;
    ELSE
        PERFORM write_event(id, 'factor.added') FROM accounts WHERE id = NEW.account AND created_at < now();
    END IF;
    RETURN NULL;
END
$$;
