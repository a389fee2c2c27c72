extension Operator {
    /// Returns the number of drafts whose ids begin with the digits, and the id of one of these drafts. The id is nil
    /// if there is no such draft.
    package func idsBeginning(
        with prefix: IDPrefix<Draft>
    ) async throws(DatabaseError) -> (count: Int, first: ID<Draft>?) {
        try await ids(prefix, in: "drafts")
    }

    /// Returns the ids of the unexpired drafts with the address, newest first, or the id of the unexpired draft for
    /// which the username is reserved (table `leases`). Committed drafts have neither an address nor a reserved
    /// username. Writes an audit record for each found draft, or one record if no draft was found.
    package func drafts(_ identifier: SignInIdentifier) async throws(DatabaseError) -> [ID<Draft>] {
        let matches: SQL
        if let address = identifier.address {
            matches = "email_digest = ANY (\(ByteStrings(signups.addressDigests(address))))"
        } else {
            let digests = ByteStrings(signups.nameDigests(identifier.value, identifier.kind))
            matches = """
                id IN (SELECT draft FROM leases
                        WHERE kind = \(identifier.kind) AND value = ANY (\(digests)) AND now() < until)
                """
        }
        let rows = try await database.transaction(
            """
            WITH found AS (SELECT id FROM drafts, \(expiry)
                            WHERE account_id IS NULL AND now() < deadline AND \(matches)),
                 \(auditedSearch(.findDrafts, in: "found", of: "id"))
            SELECT id FROM found ORDER BY id DESC
            """
        )[0]
        var drafts: [ID<Draft>] = []
        for row in rows { drafts.append(try row.decode(ID<Draft>.self)) }
        return drafts
    }
}
