-- Ends an authorization because one of its refresh tokens was used twice, and writes the event `refresh.reused`.
-- Returns whether the authorization existed.
--
-- Runs as the owner of the tables, because no server may write events.

CREATE OR REPLACE FUNCTION end_reused_authorization(id uuid) RETURNS boolean LANGUAGE plpgsql
    SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    owner uuid;
BEGIN
    DELETE FROM authorizations USING grants
     WHERE authorizations.id = end_reused_authorization.id AND grants.id = grant_id
    RETURNING account INTO owner;
    IF owner IS NOT NULL THEN
        PERFORM write_event(owner, 'refresh.reused');
    END IF;
    RETURN owner IS NOT NULL;
END
$$;
