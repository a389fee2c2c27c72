-- Whether a server may claim the mail now. `readable` tells which keys the server has, as in claim_mail. The server
-- must have the key of the mail, unless the mail comes too late. No server may be delivering this mail or another one
-- to its recipient. No older mail to its recipient that this server can decrypt may be due. The mail of a server that
-- has died counts as being delivered until `sending_until`.

CREATE OR REPLACE FUNCTION mail_is_next(mail outbox, readable bytea[]) RETURNS boolean LANGUAGE plpgsql STABLE
    SET enable_seqscan = off
    SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    RETURN (mail.useless_after <= now()
            OR EXISTS (SELECT FROM unnest(readable) AS head WHERE substr(mail.sealed, 1, length(head)) = head))
       AND (mail.sending_until IS NULL OR mail.sending_until <= now())
       AND NOT EXISTS (SELECT FROM outbox AS other
                        WHERE other.recipient = mail.recipient AND other.state = 'waiting' AND other.id <> mail.id
                          AND (other.sending_until > now() OR other.due_at <= now()
                               AND (other.created_at, other.id) < (mail.created_at, mail.id)
                               AND EXISTS (SELECT FROM unnest(readable) AS head
                                            WHERE substr(other.sealed, 1, length(head)) = head)));
END
$$;
