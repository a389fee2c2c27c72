-- Counts one hit on every subject if all their quotas allow it. Otherwise counts none, and returns the exceeded limit
-- with the longest wait: its position in the arguments, from one, and the wait in seconds. Periods are in seconds.

CREATE OR REPLACE FUNCTION take_from_limits(wanted bytea[], quotas bigint[], periods bigint[])
    RETURNS TABLE (number bigint, wait bigint) LANGUAGE plpgsql
    -- A plan made while the table is small would read all of it, and would be kept. The right plan is always a few rows
    -- by their key.
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
    -- Planning the statements for each call takes longer than executing them, and gives the same plan every time.
    SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    -- Inserts or locks each row. If the reaper deletes a row meanwhile, this waits for it and inserts the row again.
    -- Every call locks in the same order, so transactions with one call each do not deadlock.
    INSERT INTO limits (subject, hits, until)
    SELECT DISTINCT asked, '{}'::timestamptz[], now() + interval '1 day' FROM unnest(wanted) AS asked ORDER BY asked
    ON CONFLICT (subject) DO UPDATE SET until = limits.until WHERE false;

    -- A subject may occur twice, for instance in a step with two addresses.
    RETURN QUERY
    SELECT min(asked.ordinality),
           coalesce(ceil(extract(epoch FROM recent.hits[recent.taken - asked.quota + count(*)] - now())), 0)::bigint
           + asked.period
      FROM unnest(wanted, quotas, periods) WITH ORDINALITY AS asked (subject, quota, period, ordinality)
      JOIN limits USING (subject)
     CROSS JOIN LATERAL (
        SELECT array_agg(hit ORDER BY hit) AS hits, count(*) AS taken
          FROM unnest(limits.hits) AS hit WHERE hit > now() - make_interval(secs => asked.period)
     ) AS recent
     GROUP BY asked.subject, asked.quota, asked.period, recent.hits, recent.taken
    HAVING recent.taken + count(*) > asked.quota
     ORDER BY 2 DESC LIMIT 1;
    IF FOUND THEN
        -- A refused call keeps no rows of its own.
        DELETE FROM limits WHERE subject = ANY (wanted) AND hits = '{}';
        RETURN;
    END IF;

    UPDATE limits
       SET hits = ARRAY(SELECT hit FROM unnest(limits.hits) AS hit
                         WHERE hit > now() - make_interval(secs => asked.period) ORDER BY hit)
                  || array_fill(now(), ARRAY[asked.times::int]),
           until = now() + make_interval(secs => asked.period)
      FROM (SELECT subject, period, count(*) AS times
              FROM unnest(wanted, quotas, periods) AS each (subject, quota, period)
             GROUP BY subject, period) AS asked
     WHERE limits.subject = asked.subject;
END
$$;
