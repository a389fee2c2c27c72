/// A public name, such as a username, that a draft must lease before a change is written.
struct LeaseRequest {
    let field: FieldName
    let kind: String
    let name: String
}

/// A public name belongs to the first draft that submits it, until that draft ends, clears it or submits another name.
/// Until then, no other draft can take the name, and no account can be renamed to it. So the commit finds the name
/// free, unless an account got it by an import, or by a renaming in the same moment as the lease.
///
/// A person who has lost the token of a draft, for example with the cookies of a browser, can use its name in a new
/// draft, if both drafts have proved the same address. When the new draft submits the name, the lost draft ends.
extension Signups {
    /// A statement that leases the name to the draft. Does nothing if an account or another open draft has the name.
    ///
    /// - Parameter condition: a condition on `drafts`; if it is false, the statement does nothing.
    func lease(_ request: LeaseRequest, to draft: Draft, when condition: SQL) -> SQL {
        let digest = nameDigests(request.name, request.kind)[0]
        return """
            INSERT INTO leases (kind, value, draft, until)
            SELECT \(request.kind), \(digest), id, ends_at FROM \(table(of: draft.id))
             WHERE \(condition) AND NOT \(isTaken(request, from: draft))
            ON CONFLICT (kind, value) DO UPDATE SET draft = excluded.draft, until = excluded.until
             WHERE leases.draft = excluded.draft OR NOT \(isHeld("leases"))
            """
    }

    /// Whether the draft has the lease, as SQL.
    func isLeased(_ request: LeaseRequest, to draft: Draft) -> SQL {
        """
        EXISTS (SELECT FROM leases WHERE kind = \(request.kind) AND draft = \(draft.id)
                                     AND value = \(nameDigests(request.name, request.kind)[0]))
        """
    }

    /// Whether the name belongs to an account or to another open draft, as SQL.
    func isTaken(_ request: LeaseRequest, from draft: Draft) -> SQL {
        isTaken(request.name, request.kind, unless: "other.draft = \(draft.id)")
    }

    /// Whether the name belongs to an account or to another open draft, as SQL. A draft that has proved the same
    /// address does not count, because it ends when this draft submits the name.
    func isRefused(_ name: String, _ kind: String, to draft: Draft) -> SQL {
        let isLost: SQL = """
            EXISTS (SELECT FROM drafts WHERE drafts.id = other.draft AND \(hasProvedAddress(of: draft)))
            """
        return isTaken(name, kind, unless: "other.draft = \(draft.id) OR \(isLost)")
    }

    /// Whether the name belongs to an account or to an open draft, as SQL.
    ///
    /// - Parameter isPermitted: a condition on `other`, a row of `leases`. A lease for which it is true does not count.
    func isTaken(_ name: String, _ kind: String, unless isPermitted: SQL = "false") -> SQL {
        """
        (EXISTS (SELECT FROM identifiers WHERE kind = \(kind) AND value = \(name))
         OR EXISTS (SELECT FROM leases other
                     WHERE other.kind = \(kind) AND other.value = ANY (\(ByteStrings(nameDigests(name, kind))))
                       AND NOT (\(isPermitted)) AND \(isHeld("other"))))
        """
    }

    /// Whether the draft in a row of `drafts` is for the same address as `draft` and both have proved it, as SQL.
    private func hasProvedAddress(of draft: Draft) -> SQL {
        let digests = provedDigests(of: draft)
        if digests.isEmpty { return "false" }
        return "email_digest = ANY (\(ByteStrings(digests))) AND \(Self.hasProved(digests))"
    }

    /// Ends the other draft that has leased the name, if it has proved the same address as this draft, this draft has
    /// not changed, and no account has the name. Returns whether a draft has ended.
    func endLostDraft(holding request: LeaseRequest, for draft: Draft) async throws(DatabaseError) -> Bool {
        if provedDigests(of: draft).isEmpty { return false }
        let names = ByteStrings(nameDigests(request.name, request.kind))
        let isHolder: SQL = """
            id IN (SELECT draft FROM leases WHERE kind = \(request.kind) AND value = ANY (\(names)))
            AND id <> \(draft.id) AND account_id IS NULL
            """
        let end = end(
            in: "drafts",
            where: """
                \(isHolder) AND \(hasProvedAddress(of: draft)) AND \(exists(draft))
                AND NOT EXISTS (SELECT FROM identifiers WHERE kind = \(request.kind) AND value = \(request.name))
                """,
            as: .continuedElsewhere
        )
        // Locks the other draft first, so that the next statement sees what another transaction has done to that draft
        // and its proofs.
        let lock: SQL = "SELECT id FROM drafts WHERE \(isHolder) ORDER BY id FOR UPDATE"
        let rows = try await database.transaction([lock, end] + Self.deleteBelongingsExceptCodes)
        return try countEnded(rows[1], as: .superseded)
    }

    /// A statement to run after the draft was written: releases its names of this kind, except `name`.
    func release(_ kind: String, except name: String? = nil, by draft: Draft) -> SQL {
        release(kind, except: name, by: draft, when: hasWritten(draft))
    }

    /// A statement to run after ``lease(_:to:when:)``: if a rate limit is exceeded, so that the draft is not written,
    /// releases the new name. The name that the draft already has stays leased.
    func takeBack(_ request: LeaseRequest, from draft: Draft) -> SQL {
        let present = draft.values.json(of: request.field)?.string
        return release(request.kind, except: present, by: draft, when: "NOT (\(Self.isWithinLimits))")
    }

    private func release(_ kind: String, except name: String?, by draft: Draft, when condition: SQL) -> SQL {
        let kept = ByteStrings(name.map { nameDigests($0, kind) } ?? [])
        return """
            DELETE FROM leases WHERE draft = \(draft.id) AND kind = \(kind) AND value <> ALL (\(kept))
                                 AND \(condition)
            """
    }

    /// A statement for a key rotation: moves the draft's lease to the digest of the name under the first key.
    ///
    /// The table may already have a row with the new digest: for the same draft, if it submitted the name again after
    /// the first key changed, or for a draft that has ended.
    func renewLease(of name: String, _ kind: String, by draft: ID<Draft>) -> SQL {
        let digests = nameDigests(name, kind)
        return """
            WITH old AS (
                DELETE FROM leases WHERE kind = \(kind) AND draft = \(draft)
                                     AND value = ANY (\(ByteStrings(Array(digests.dropFirst())))) RETURNING until
            )
            INSERT INTO leases (kind, value, draft, until)
            SELECT \(kind), \(digests[0]), \(draft), max(until) FROM old HAVING count(*) > 0
            ON CONFLICT (kind, value) DO UPDATE SET draft = excluded.draft, until = excluded.until
             WHERE leases.draft = excluded.draft OR NOT \(isHeld("leases"))
            """
    }

    /// Whether the draft that holds the lease is still open, as SQL.
    ///
    /// - Parameter lease: the name or alias of the table `leases` in the statement.
    private func isHeld(_ lease: String) -> SQL {
        """
        EXISTS (SELECT FROM drafts WHERE drafts.id = \(SQL(stringLiteral: lease)).draft
                                     AND account_id IS NULL AND now() < \(deadline))
        """
    }

    func nameDigests(_ name: String, _ kind: String) -> [[UInt8]] {
        keys.digests(Array("name".utf8), Array(kind.utf8), Array(name.utf8))
    }
}
