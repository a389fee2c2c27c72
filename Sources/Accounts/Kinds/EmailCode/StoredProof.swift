internal import Foundation

/// A row of the table `proofs`.
struct StoredProof {
    /// The columns that ``init(_:)`` decodes. The digest of the code is selected only after the code has proved the
    /// address. Before that, the digest is NULL if no code can be correct, as in a sign-up with the address of an
    /// account. A response for which a digest is read would take longer, and so reveal whether the address has an
    /// account.
    static let columns: SQL = """
        field, address_digest, generation, attempts, failures, sent_at, expires_at, proved_at,
        CASE WHEN proved_at IS NOT NULL THEN code_digest END
        """

    let field: FieldName
    let addressDigest: [UInt8]
    let generation, attempts, failures: Int
    let sentAt, expiresAt: Date
    let provedAt: Date?
    let acceptedCodeDigest: [UInt8]?

    init(_ row: Row) throws(DatabaseError) {
        var columns = row.columns
        guard let proof = try StoredProof(ifPresent: &columns) else {
            throw .unexpectedAnswer("expected a proof, got NULL")
        }
        self = proof
    }

    /// Returns nil if an outer join found no row.
    init?(ifPresent columns: inout Columns) throws(DatabaseError) {
        let field: String? = try columns.next()
        let addressDigest: [UInt8]? = try columns.next()
        let generation: Int? = try columns.next()
        let attempts: Int? = try columns.next()
        let failures: Int? = try columns.next()
        let sentAt: Date? = try columns.next()
        let expiresAt: Date? = try columns.next()
        provedAt = try columns.next()
        acceptedCodeDigest = try columns.next()
        guard let field, let addressDigest, let generation, let attempts, let failures, let sentAt, let expiresAt else {
            return nil
        }
        self.field = FieldName(field)
        (self.addressDigest, self.generation, self.attempts) = (addressDigest, generation, attempts)
        (self.failures, self.sentAt, self.expiresAt) = (failures, sentAt, expiresAt)
    }
}

extension Signups {
    func selectProofs(of draft: ID<Draft>) -> SQL {
        "SELECT \(StoredProof.columns) FROM proofs WHERE draft = \(draft)"
    }

    /// Converts stored proofs to ``Proof`` values, by code field. Omits proofs whose field is no longer a code field of
    /// the flow.
    ///
    /// - Parameter values: the values of the draft; nil if a command without keys has read the draft and cannot decrypt
    ///   them. ``Proof/isForCurrentAddress`` is then true for each proof.
    func proofs(_ stored: [StoredProof], of values: Values?) -> [FieldName: Proof] {
        var proofs: [FieldName: Proof] = [:]
        for stored in stored {
            guard let addressField = flow.field(named: stored.field)?.kind.provedField else { continue }
            let current = values.map { $0.address(in: addressField).map(addressDigests) ?? [] }
            proofs[stored.field] = Proof(
                generation: stored.generation,
                addressDigest: stored.addressDigest,
                attempts: stored.attempts,
                failures: stored.failures,
                sentAt: stored.sentAt,
                expiresAt: stored.expiresAt,
                provedAt: stored.provedAt,
                acceptedCodeDigest: stored.acceptedCodeDigest,
                isForCurrentAddress: current?.contains(stored.addressDigest) ?? true
            )
        }
        return proofs
    }
}
