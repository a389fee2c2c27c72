-- Claims due logouts for one attempt each: for each application in `places`, such as {"shop": 4}, up to that many. A claimed
-- one is due again after two minutes, in case the server dies.

CREATE OR REPLACE FUNCTION claim_logouts(places jsonb)
    RETURNS TABLE (application text, sid uuid, account uuid, attempts bigint, created_at timestamptz)
    LANGUAGE plpgsql
    -- A plan made while the table is small would read all of it, and would be kept.
    SET enable_seqscan = off SET enable_sort = off SET jit = off
    SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
    asked record;
BEGIN
    FOR asked IN SELECT key, value::bigint AS count FROM jsonb_each_text(places) LOOP
        RETURN QUERY
        WITH due AS MATERIALIZED (
            SELECT sid FROM logouts WHERE application = asked.key AND due_at <= now()
             ORDER BY due_at LIMIT asked.count FOR UPDATE SKIP LOCKED
        )
        UPDATE logouts SET attempts = attempts + 1, due_at = now() + interval '2 minutes'
         WHERE sid = ANY (ARRAY(SELECT sid FROM due))
        RETURNING application, sid, account, attempts::bigint, created_at;
    END LOOP;
END
$$;
