-- The smallest id of version 7 that can be made on a day, or at an instant (RFC 9562, section 5.7).

CREATE OR REPLACE FUNCTION draft_id_floor(day date) RETURNS uuid LANGUAGE sql IMMUTABLE AS $$
    SELECT (lpad(to_hex((extract(epoch FROM day) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$;

CREATE OR REPLACE FUNCTION draft_id_floor(instant timestamptz) RETURNS uuid LANGUAGE sql IMMUTABLE AS $$
    SELECT (lpad(to_hex((extract(epoch FROM instant) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$;
