-- Rows of limits may be erased now while somebody asks for them.

-- Counts one hit on every subject, or, where a quota is used up, on none: then it returns the number of the limit
-- (from one) that takes longest to pass, and for how many seconds. The periods are in seconds.
CREATE OR REPLACE FUNCTION take_from_limits(wanted bytea[], quotas bigint[], periods bigint[])
    RETURNS TABLE (number bigint, wait bigint) LANGUAGE plpgsql
    -- A plan that was made while the table was empty would read all of it for ever after. A few rows by their key is what
    -- is always right here.
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
BEGIN
    -- Makes or locks each row: whoever waits here for an eraser makes it anew. Everybody does so in the same order, so that
    -- nobody waits in a circle.
    INSERT INTO limits (subject, hits, until)
    SELECT DISTINCT asked, '{}'::timestamptz[], now() + interval '1 day' FROM unnest(wanted) AS asked ORDER BY asked
    ON CONFLICT (subject) DO UPDATE SET until = limits.until WHERE false;

    -- The same subject may be asked for twice, as by a step with two addresses.
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
        -- Who is refused leaves nothing behind.
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
