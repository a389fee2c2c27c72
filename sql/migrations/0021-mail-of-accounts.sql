-- Lets an operator find the delivered and dead mail about an account, whose rows keep no recipient.

ALTER TABLE outbox
    -- The account that the mail is about; null for mail about a draft.
    ADD COLUMN account uuid;
-- Not partial: otherwise the insertion of a mail would take longer if there is an account.
CREATE INDEX outbox_account ON outbox (account);
