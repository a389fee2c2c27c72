-- Claims due deliveries for one attempt each: for each application in `places`, such as {"shop": 8}, up to that many.
-- `claim` is a new id for each call. A claimed row contains it until its attempt has failed.
--
-- A delivery waits until all earlier ones of its application and account have arrived or failed for good. A claimed one
-- is due again after two minutes, in case the server dies. An application whose last five attempts have failed gets one
-- delivery at a time: no other one is claimed meanwhile, unless two servers claim at the same moment.

CREATE OR REPLACE FUNCTION claim_deliveries(places jsonb, claim uuid)
    RETURNS TABLE (application text, event uuid, attempts bigint, type text, sequence bigint, created_at timestamptz,
                   account uuid)
    LANGUAGE plpgsql
    -- A plan made while the table is small would read all of it, and would be kept.
    SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET enable_hashjoin = off
    SET enable_mergejoin = off SET jit = off
    SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
DECLARE
    asked record;
BEGIN
    FOR asked IN
        SELECT id, CASE WHEN failures < 5 THEN value::bigint ELSE 1 END AS count
          FROM applications JOIN jsonb_each_text(places) ON key = id
         WHERE state = 'on' AND paused_until <= now()
           AND (failures < 5
                OR NOT EXISTS (SELECT FROM deliveries
                                WHERE application = id AND deliveries.state = 'waiting' AND claim IS NOT NULL
                                  AND due_at > now() AND due_at <= now() + interval '2 minutes'))
    LOOP
        RETURN QUERY
        WITH due AS MATERIALIZED (
            SELECT event FROM deliveries AS one
             WHERE application = asked.id AND state = 'waiting' AND due_at <= now() AND NOT EXISTS (
                       SELECT FROM deliveries AS earlier
                        WHERE earlier.application = asked.id AND earlier.account = one.account
                          AND earlier.sequence < one.sequence AND earlier.state <> 'failed')
             ORDER BY due_at LIMIT asked.count FOR UPDATE SKIP LOCKED
        ), claimed AS (
            UPDATE deliveries
               SET attempts = attempts + 1, due_at = now() + interval '2 minutes', claim = claim_deliveries.claim
             WHERE application = asked.id AND event = ANY (ARRAY(SELECT event FROM due))
            RETURNING event, attempts
        )
        SELECT asked.id, events.id, claimed.attempts::bigint, events.type, events.sequence, events.created_at,
               events.account
          FROM claimed JOIN events ON events.id = claimed.event;
    END LOOP;
END
$$;

-- For servers of the version before, which know no claims.
CREATE OR REPLACE FUNCTION claim_deliveries(places jsonb)
    RETURNS TABLE (application text, event uuid, attempts bigint, type text, sequence bigint, created_at timestamptz,
                   account uuid)
    LANGUAGE sql AS $$
    SELECT * FROM claim_deliveries(places, NULL)
$$;
