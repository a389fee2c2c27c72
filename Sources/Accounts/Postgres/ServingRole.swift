extension Database {
    /// Returns the rights of the connections' role that a server does not need: to be a superuser, to own the tables
    /// (also as a member of the role that owns them), or to create tables. For a superuser, returns only the first of
    /// these. A role with only the privileges of `accounts_serve` has none of them.
    package func rightsBeyondServing() async throws(DatabaseError) -> [ExcessRight] {
        let (isSuperuser, ownsTables, createsTables) = try await read(
            """
            SELECT rolsuper, pg_has_role(relowner, 'USAGE'), has_schema_privilege(relnamespace, 'CREATE')
              FROM pg_roles, pg_class WHERE rolname = current_user AND pg_class.oid = 'audit'::regclass
            """
        ).only.decode(Bool.self, Bool.self, Bool.self)
        if isSuperuser { return [.superuser] }
        return (ownsTables ? [.ownsTables] : []) + (createsTables ? [.createsTables] : [])
    }

    /// Whether the role of the connection has the right to insert sessions, which a server needs. The role
    /// `accounts_operate` does not have it.
    package func mayServe() async throws(DatabaseError) -> Bool {
        try await read("SELECT has_table_privilege('sessions', 'INSERT')").only.decode(Bool.self)
    }
}

/// A right that a server does not need. With this right, an attacker who controls the server could do more than the
/// service ever does.
package enum ExcessRight: String, Sendable {
    case superuser = "is a superuser"
    case ownsTables = "owns the tables"
    case createsTables = "can create tables"
}
