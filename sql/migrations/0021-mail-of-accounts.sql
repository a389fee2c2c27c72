-- Lets an operator find the delivered and dead mail about an account, whose rows keep no recipient.

ALTER TABLE outbox
    -- The account that the mail is about; null for mail about a draft.
    ADD COLUMN account uuid;
CREATE INDEX outbox_account ON outbox (account) WHERE account IS NOT NULL;
