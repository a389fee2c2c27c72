-- What operators did, and what they looked at that others may not see.

CREATE TABLE audit (
    id       uuid        NOT NULL PRIMARY KEY,
    at       timestamptz NOT NULL DEFAULT now(),
    operator text        NOT NULL,
    act      text        NOT NULL,
    -- The draft, account or mail; none where there were several.
    subject  uuid
);
CREATE INDEX audit_subject ON audit (subject);
