-- The applications for which an event or a logout is due now. An event may be due and still wait for an earlier one of its
-- account.

CREATE OR REPLACE FUNCTION due_applications()
    RETURNS TABLE (application text, has_event boolean, has_logout boolean) LANGUAGE plpgsql STABLE
    -- A plan made while the tables are small would read all of them, and would be kept.
    SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET enable_hashjoin = off
    SET enable_mergejoin = off SET jit = off
    SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT id, event.is_due IS NOT NULL, logout.is_due IS NOT NULL
      FROM applications
      LEFT JOIN LATERAL (SELECT true AS is_due FROM deliveries
                          WHERE applications.state = 'on' AND paused_until <= now() AND application = id
                            AND deliveries.state = 'waiting' AND due_at <= now()
                          ORDER BY due_at LIMIT 1) AS event ON true
      LEFT JOIN LATERAL (SELECT true AS is_due FROM logouts
                          WHERE application = id AND due_at <= now() ORDER BY due_at LIMIT 1) AS logout ON true
     WHERE event.is_due OR logout.is_due;
END
$$;
