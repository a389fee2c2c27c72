extension Signups {
    /// Statements for an address that now belongs to an account. They delete the codes for it in all open drafts that
    /// have it as their identifier and have not proved it, and the waiting mail with these codes. No code can then be
    /// correct in these drafts, as in a sign-up with the address of an account.
    ///
    /// The clients of these drafts see no change, so a stranger who has submitted the address does not learn when its
    /// owner creates an account.
    ///
    /// - Parameter digests: the digests of the address, one for each key of the key ring.
    func withdrawCodes(for digests: [[UInt8]], when condition: SQL) -> [SQL] {
        let digests = ByteStrings(digests)
        let isUnproved: SQL = """
            draft IN (SELECT id FROM drafts WHERE email_digest = ANY (\(digests)) AND account_id IS NULL)
            AND address_digest = ANY (\(digests)) AND proved_at IS NULL AND \(condition)
            """
        return [
            Self.deleteWaiting("SELECT mail FROM proofs WHERE \(isUnproved)"),
            "UPDATE proofs SET code_digest = NULL WHERE \(isUnproved)",
        ]
    }

    /// Whether no code of the field can be correct any more. Call it only after a correct guess: otherwise the response
    /// would reveal whether the address has an account.
    func isWithdrawn(_ field: FieldName, of draft: Draft) async throws(SubmitError) -> Bool {
        try await converting(to: SubmitError.database) { () throws(DatabaseError) in
            try await !database.read(
                "SELECT FROM proofs WHERE draft = \(draft.id) AND field = \(field.rawValue) AND code_digest IS NULL"
            ).isEmpty
        }
    }

    /// Whether the draft in a row of `drafts` has proved an address with one of these digests, as SQL.
    static func hasProved(_ digests: [[UInt8]]) -> SQL {
        """
        EXISTS (SELECT FROM proofs WHERE draft = drafts.id AND proved_at IS NOT NULL
                                     AND address_digest = ANY (\(ByteStrings(digests))))
        """
    }
}
