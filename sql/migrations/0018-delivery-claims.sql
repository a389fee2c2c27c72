-- The attempt that is under way: a random id, while `due_at` is ahead. Then `due_at` stays as it is, so that nobody
-- else sends the event meanwhile, and the result counts only if the claim is still the same.
ALTER TABLE deliveries ADD COLUMN claim uuid;
