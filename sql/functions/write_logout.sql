-- The trigger of `grants`: queues a logout for the application, if the application wants to be told.
--
-- Runs as the owner of the tables, because a server may not add to `logouts`.

CREATE OR REPLACE FUNCTION write_logout() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO logouts (sid, application, account)
    SELECT OLD.id, id, OLD.account FROM applications WHERE id = OLD.application AND backchannel_logout;
    RETURN NULL;
END
$$;
