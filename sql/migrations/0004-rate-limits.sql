-- Rate limits, counted in the database because all servers share them.

CREATE TABLE limits (
    -- A keyed digest of the address, network or draft that is limited.
    subject bytea         NOT NULL PRIMARY KEY,
    -- When the hits of the period took place. The window slides, so it has no boundary at which the count starts again.
    hits    timestamptz[] NOT NULL,
    -- The row can be deleted from then on. Not indexed, so that an update stays in its page (HOT).
    until   timestamptz   NOT NULL
) WITH (fillfactor = 60);
