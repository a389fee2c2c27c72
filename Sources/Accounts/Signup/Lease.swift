internal import Foundation

/// A public name belongs to the draft that submitted it first, until that draft ends: nobody else can take it
/// meanwhile, so the commit cannot lose it.
extension Signups {
    /// Part of a statement over `allowed`; it gives a row if the name is this draft's now. Names of accounts, and of
    /// drafts that still live, are not to be had.
    func lease(of name: String, kind: String, by draft: ID<Draft>) -> SQL {
        let digests = nameDigests(name, kind)
        return """
            lease AS (
                INSERT INTO leases (kind, value, draft, until)
                SELECT \(kind), \(digests[0]), id, ends_at FROM allowed WHERE NOT \(isTaken(name, kind, except: draft))
                ON CONFLICT (kind, value) DO UPDATE SET draft = excluded.draft, until = excluded.until
                 WHERE leases.draft = excluded.draft OR NOT \(isHeld("leases"))
                RETURNING 1
            )
            """
    }

    /// Whether the name is an account's, or a living draft's other than that one, as SQL.
    func isTaken(_ name: String, _ kind: String, except draft: ID<Draft>) -> SQL {
        """
        (EXISTS (SELECT FROM identifiers WHERE kind = \(kind) AND value = \(name))
         OR EXISTS (SELECT FROM leases older
                     WHERE older.kind = \(kind) AND older.value = ANY (\(ByteStrings(nameDigests(name, kind))))
                       AND older.draft <> \(draft) AND \(isHeld("older"))))
        """
    }

    /// Part of a statement over `revised`: the draft lets go of other names of that kind.
    func release(of kind: String, except name: String?) -> SQL {
        let kept = ByteStrings(name.map { nameDigests($0, kind) } ?? [])
        return """
            released AS (DELETE FROM leases USING revised
                          WHERE draft = revised.id AND kind = \(kind) AND value <> ALL (\(kept)))
            """
    }

    /// True while the draft that holds a lease lives.
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
