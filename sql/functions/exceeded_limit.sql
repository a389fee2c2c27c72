-- Returns what `take_from_limits` would return for the same arguments, by the same query, and counts nothing.

CREATE OR REPLACE FUNCTION exceeded_limit(wanted bytea[], quotas bigint[], periods bigint[])
    RETURNS TABLE (number bigint, wait bigint) LANGUAGE plpgsql
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
    SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    RETURN QUERY
    SELECT min(asked.ordinality),
           coalesce(ceil(extract(epoch FROM recent.hits[recent.taken - asked.quota + count(*)] - now())), 0)::bigint
           + asked.period
      FROM unnest(wanted, quotas, periods) WITH ORDINALITY AS asked (subject, quota, period, ordinality)
      LEFT JOIN limits USING (subject)
     CROSS JOIN LATERAL (
        SELECT array_agg(hit ORDER BY hit) AS hits, count(*) AS taken
          FROM unnest(coalesce(limits.hits, '{}')) AS hit WHERE hit > now() - make_interval(secs => asked.period)
     ) AS recent
     GROUP BY asked.subject, asked.quota, asked.period, recent.hits, recent.taken
    HAVING recent.taken + count(*) > asked.quota
     ORDER BY 2 DESC LIMIT 1;
END
$$;
