/// A public name, such as a username, that a draft must lease before a change is written.
struct LeaseRequest {
    let field: FieldName
    let kind: String
    let name: String
}

/// A public name belongs to the first draft that submits it, until that draft ends. Until then, no other draft can take
/// the name, and no account can be renamed to it. So the commit finds the name free, unless an import has taken it.
extension Signups {
    /// A statement that leases the name to the draft. Does nothing if an account or another open draft has the name.
    ///
    /// - Parameter condition: a condition on `drafts`; if it is false, the statement does nothing.
    func lease(_ request: LeaseRequest, to draft: Draft, when condition: SQL) -> SQL {
        let digest = nameDigests(request.name, request.kind)[0]
        return """
            INSERT INTO leases (kind, value, draft, until)
            SELECT \(request.kind), \(digest), id, ends_at FROM \(table(of: draft.id))
             WHERE \(condition) AND NOT \(isTaken(request, except: draft.id))
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

    func isTaken(_ request: LeaseRequest, except draft: ID<Draft>) -> SQL {
        isTaken(request.name, request.kind, except: draft)
    }

    /// Whether the name belongs to an account or to an open draft, as SQL. A name of `draft` itself does not count.
    func isTaken(_ name: String, _ kind: String, except draft: ID<Draft>? = nil) -> SQL {
        """
        (EXISTS (SELECT FROM identifiers WHERE kind = \(kind) AND value = \(name))
         OR EXISTS (SELECT FROM leases other
                     WHERE other.kind = \(kind) AND other.value = ANY (\(ByteStrings(nameDigests(name, kind))))
                       AND other.draft IS DISTINCT FROM \(draft) AND \(isHeld("other"))))
        """
    }

    /// A statement for after the write of the draft: releases its names of this kind, except `name`.
    func release(_ kind: String, except name: String? = nil, by draft: Draft) -> SQL {
        let kept = ByteStrings(name.map { nameDigests($0, kind) } ?? [])
        return """
            DELETE FROM leases WHERE draft = \(draft.id) AND kind = \(kind) AND value <> ALL (\(kept))
                                 AND \(hasWritten(draft))
            """
    }

    /// A statement that replaces the draft's leases with digests of the name under other keys by one lease under the
    /// first key.
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
