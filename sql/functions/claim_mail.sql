-- Claims up to `places` due mails for one attempt each, and returns them. `readable` has, for each key of the server,
-- the first bytes of everything that the key encrypts. Mail that the server cannot decrypt is left to servers that have
-- its key, unless it comes too late (`useless_after`): then any server claims it, to mark it dead.
--
-- A mail waits while another one to its recipient is in delivery, or is due and older. So the mails of an address
-- arrive in order. But a mail that the mail server has postponed, or that this server cannot decrypt, does not hold up
-- later ones.
--
-- A person waits for a mail that is useless within a day, such as a mail with a code: the next attempts follow after 5,
-- 15 and 45 seconds, and then every two minutes. If the mail is useful for more than an hour and older than ten
-- minutes, the next attempt follows after as long as the mail is old, up to four hours. The attempts of other mail
-- follow after 1, 2, 4 minutes and so on, up to four hours.

CREATE OR REPLACE FUNCTION claim_mail(places bigint, readable bytea[])
    RETURNS SETOF outbox LANGUAGE plpgsql
    -- A plan made while the table is small would read all of it, and would be kept. The right plan always reads the first
    -- rows of two indexes. PostgreSQL takes the prohibition of sorting for a high cost, so it would compile the plan.
    SET enable_seqscan = off SET enable_sort = off SET jit = off
    SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    RETURN QUERY
    WITH new AS (
        SELECT id, turn FROM outbox AS mail
         WHERE state = 'waiting' AND attempts = 0 AND due_at <= now() AND mail_is_next(mail, readable)
         ORDER BY turn LIMIT places FOR UPDATE SKIP LOCKED
    ), postponed AS (
        SELECT id, turn FROM outbox AS mail
         WHERE state = 'waiting' AND attempts > 0 AND due_at <= now() AND mail_is_next(mail, readable)
         ORDER BY due_at LIMIT places FOR UPDATE SKIP LOCKED
    ), chosen AS (
        SELECT id FROM (TABLE new UNION ALL TABLE postponed) AS due ORDER BY turn LIMIT places
    )
    UPDATE outbox
       SET attempts = attempts + 1, sending_until = now() + interval '1 minute',
           (due_at, turn) = (
               SELECT now() + pause, greatest(turn, now()) + pause
                 FROM make_interval(secs => CASE WHEN useless_after > created_at + interval '1 day'
                                                 THEN least(60 * 2 ^ attempts, 14400)
                                                 WHEN least(useless_after - interval '1 hour', now() - interval '10 minutes')
                                                      < created_at
                                                 THEN least(5 * 3 ^ attempts, 120)
                                                 ELSE least(extract(epoch FROM now() - created_at), 14400) END) AS pause)
     WHERE id IN (SELECT id FROM chosen)
    RETURNING outbox.*;
END
$$;
