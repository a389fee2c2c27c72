-- What operators did, and what they looked at that others may not see.

CREATE TABLE audit (
    number   bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at       timestamptz NOT NULL DEFAULT now(),
    operator text        NOT NULL,
    act      text        NOT NULL,
    -- The draft, account or mail; none where all mail is meant.
    subject  uuid
);
