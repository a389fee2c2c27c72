-- Shows at the start of a server whether its keys fit this database.

-- The only row, sealed with the first key of the first server that started, and again by each rotation of the keys. A
-- server that cannot open it has the wrong keys.
CREATE TABLE key_sentinel (
    is_only boolean NOT NULL PRIMARY KEY DEFAULT true CHECK (is_only),
    sealed  bytea   NOT NULL
);
