-- Imported accounts, and the first sign-in of an account.

-- Finds the kinds of imported hashes that accounts still have. The text of such a hash begins with its kind and `|`.
CREATE INDEX credentials_imported ON credentials (split_part(secret, '|', 1)) WHERE secret LIKE '%|%';

-- When the person signed in first; null until then. Accounts from before have a time that no sign-in has.
ALTER TABLE accounts ADD COLUMN signed_in_at timestamptz DEFAULT 'epoch';
ALTER TABLE accounts ALTER COLUMN signed_in_at DROP DEFAULT;
