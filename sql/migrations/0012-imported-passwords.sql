-- Passwords that were imported with a hash of another kind. Their text begins with that kind and `|`.

-- Finds the kinds that accounts still have.
CREATE INDEX credentials_imported ON credentials (split_part(secret, '|', 1)) WHERE secret LIKE '%|%';
