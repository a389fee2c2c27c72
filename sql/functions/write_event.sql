-- Writes an event about an account, and its deliveries, if an application wants to hear of it.
--
-- Only functions that run as the owner of the tables, with the search path of the migration, may call it: no server can
-- invent an event. write_event itself changes neither the role nor the search path, because that would double its cost
-- if no application wants the event.

CREATE OR REPLACE FUNCTION write_event(account uuid, type text) RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    number bigint;
    new_id uuid;
    microseconds bigint := extract(epoch FROM clock_timestamp()) * 1000000;
BEGIN
    IF NOT EXISTS (SELECT FROM applications WHERE write_event.type = ANY (events)) THEN
        RETURN;
    END IF;
    -- A UUID of version 7: milliseconds since 1970, their fraction in 12 bits, then random bits (RFC 9562, sections 5.7 and
    -- 6.2, method 3). So the events of one transaction have the order in which it wrote them.
    new_id := (lpad(to_hex(microseconds / 1000), 12, '0') || '7'
               || lpad(to_hex(microseconds % 1000 * 4096 / 1000), 3, '0')
               || substr(replace(gen_random_uuid()::text, '-', ''), 17))::uuid;
    INSERT INTO event_sequences (account, last) VALUES (write_event.account, 1)
    ON CONFLICT (account) DO UPDATE SET last = event_sequences.last + 1
    RETURNING last INTO number;
    INSERT INTO events (id, account, sequence, type) VALUES (new_id, write_event.account, number, write_event.type);
    INSERT INTO deliveries (event, application, account, sequence)
    SELECT new_id, id, write_event.account, number FROM applications
     WHERE has_webhook AND write_event.type = ANY (events);
END
$$;
