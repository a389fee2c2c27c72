-- Records which database role wrote an audit record. The name of the operator is what the operator says; the role is
-- what PostgreSQL has authenticated.

-- Null in older records, of which nobody knows the role.
ALTER TABLE audit ADD COLUMN role text;
ALTER TABLE audit ALTER COLUMN role SET DEFAULT session_user;
