-- Records where a command of an operator ran, and why. Both are what the command says, as the name of the operator is.

ALTER TABLE audit
    -- The name of the machine; null in records of commands of the version before.
    ADD COLUMN host text,
    -- Such as the number of a ticket; null if the operator gave no reason.
    ADD COLUMN reason text;
