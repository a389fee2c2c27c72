-- How often something happened of late, counted where every server sees it.

CREATE TABLE limits (
    -- A keyed digest of what is counted: nothing here names an address or a network.
    subject bytea         NOT NULL PRIMARY KEY,
    -- When it happened, as far back as the limit looks. The window slides, so no moment is better than another.
    hits    timestamptz[] NOT NULL,
    -- From then on the row says nothing. In no index, so that a hit stays in its page.
    until   timestamptz   NOT NULL
) WITH (fillfactor = 60);

-- Counts one hit on every subject, or, where a quota is used up, on none: then it returns the number of the limit
-- (from one) that takes longest to pass, and for how many seconds. The periods are in seconds.
CREATE FUNCTION take_from_limits(wanted bytea[], quotas bigint[], periods bigint[])
    RETURNS TABLE (number bigint, wait bigint) LANGUAGE plpgsql AS $$
BEGIN
    -- Everybody locks the rows in the same order, so that nobody waits in a circle.
    INSERT INTO limits (subject, hits, until)
    SELECT asked, '{}', now() + interval '1 day' FROM unnest(wanted) AS asked ORDER BY asked
    ON CONFLICT (subject) DO NOTHING;
    PERFORM FROM limits WHERE subject = ANY (wanted) ORDER BY subject FOR UPDATE;

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
    IF FOUND THEN RETURN; END IF;

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

-- The mail that carries the code of a proof: a newer code makes it worthless.
ALTER TABLE proofs ADD COLUMN mail uuid;
