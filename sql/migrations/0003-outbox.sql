-- Mail, inserted by the transaction that causes it and delivered afterwards. A delivered row keeps no address.

CREATE TABLE outbox (
    id            uuid        NOT NULL PRIMARY KEY,
    template      text        NOT NULL,
    sealed        bytea,
    state         text        NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'delivered', 'dead')),
    attempts      integer     NOT NULL DEFAULT 0,
    created_at    timestamptz NOT NULL DEFAULT now(),
    due_at        timestamptz NOT NULL DEFAULT now(),
    useless_after timestamptz NOT NULL,
    finished_at   timestamptz,
    last_error    text,
    CHECK ((sealed IS NOT NULL) = (state = 'waiting'))
);
CREATE INDEX outbox_due ON outbox (due_at) WHERE state = 'waiting';
