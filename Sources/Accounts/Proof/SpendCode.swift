internal import Foundation

extension Signups {
    /// Spends an attempt on a code, and only then compares: two guesses at once cannot both be the last.
    ///
    /// - Returns: the generation of the code if it was the right one; nil if the address was proved by it meanwhile.
    func spend(
        _ digits: String,
        on field: FieldName,
        _ code: CodeField,
        of draft: Draft
    ) async throws(SubmitError) -> Int? {
        guard let proof = draft.proofs[field], proof.namesCurrentAddress,
            let address = draft.values[code.proves]?.string
        else { throw .refused([Refusal(field, .codeExpired)]) }
        let charges = [charge(.guessesForAddress, Array(address.utf8))]
        let isOpen: SQL = """
            draft = \(draft.id) AND field = \(field.rawValue) AND generation = \(proof.generation)
            AND attempts < \(code.attempts) AND failures < \(Proof.mostFailures)
            AND now() < expires_at AND proved_at IS NULL
            """
        let spend: SQL = """
            WITH current AS (SELECT FROM proofs WHERE \(isOpen)), \(refused(charges)), spent AS (
                UPDATE proofs SET attempts = attempts + 1, failures = failures + 1
                 WHERE \(isOpen) AND NOT EXISTS (SELECT FROM refused)
                RETURNING code_digest, attempts
            )
            SELECT (SELECT attempts FROM spent), (SELECT code_digest FROM spent), \([Charge].columns)
            """
        let row: (attempts: Int?, digest: [UInt8]?, number: Int?, wait: Int?)
        do throws(DatabaseError) {
            // Locked first, so that the statement after it counts for a code that is still open.
            row = try await database.transaction(
                "SELECT FROM proofs WHERE draft = \(draft.id) AND field = \(field.rawValue) FOR UPDATE",
                spend
            )[1].only.decode(Int?.self, [UInt8]?.self, Int?.self, Int?.self)
        } catch {
            throw .database(error)
        }
        if let reached = reached(charges, row.number, row.wait) { throw .limited(reached) }
        guard let attempts = row.attempts else {
            // Another request was faster: what it did to the code, the draft as it is now tells.
            let draft = try await again(draft)
            if draft.account != nil { throw .committed }
            guard let now = draft.proofs[field], now.generation == proof.generation, now.namesCurrentAddress else {
                throw .refused([Refusal(field, .codeExpired)])
            }
            if now.isProved { return nil }
            throw .refused([Self.refusal(of: field, now, code, at: draft.now)])
        }
        let candidates = codeDigests(digits, of: draft.id, address: address, generation: proof.generation)
        guard let digest = row.digest, candidates.contains(where: { $0.equalsInConstantTime(digest) }) else {
            let left = JSON.integer(max(0, code.attempts - attempts))
            throw .refused([Refusal(field, .codeWrong, ["attempts_left": left])])
        }
        return proof.generation
    }

    private static func refusal(of field: FieldName, _ proof: Proof, _ code: CodeField, at now: Date) -> Refusal {
        if proof.isExhausted { return .exhausted(field) }
        return Refusal(field, now >= proof.expiresAt && proof.attempts < code.attempts ? .codeExpired : .codeExhausted)
    }
}

extension Collection<UInt8> {
    /// Takes a time that depends on the lengths only.
    package func equalsInConstantTime(_ other: some Collection<UInt8>) -> Bool {
        count == other.count && zip(self, other).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
