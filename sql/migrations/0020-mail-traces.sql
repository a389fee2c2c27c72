-- Lets an operator tell whose mail a row is, and find a delivered mail in the log of the mail server.

ALTER TABLE outbox
    -- The draft whose step, code or link the mail is about; null for mail about an account.
    ADD COLUMN draft uuid,
    -- What the mail server said when it accepted the mail, without addresses.
    ADD COLUMN reply text;
CREATE INDEX outbox_draft ON outbox (draft) WHERE draft IS NOT NULL;
