internal import Foundation

extension Signups {
    /// Checks a code. Counts the attempt before it compares the code, so that parallel guesses cannot exceed the limit.
    /// Throws `refused` for a wrong code.
    ///
    /// - Returns: the generation of the code if it is correct; nil if another request has already proved the address
    ///   with it.
    func spend(
        _ digits: String,
        on field: FieldName,
        _ code: CodeField,
        of draft: Draft
    ) async throws(SubmitError) -> Int? {
        guard let proof = draft.proofs[field], proof.isForCurrentAddress,
            let address = draft.values.address(in: code.proves)
        else { throw .refused([Refusal(field, .codeExpired)]) }
        // Guesses at a code that was mailed in exchange for a ticket count neither against these limits nor in
        // `counts`. Only a person with the ticket has a draft with such a code, and each ticket gives one code, so
        // `code.attempts` limits these guesses.
        let charges = [
            charge(.guessesForAddressFromNetwork, of: [Array(address.rawValue.utf8), network.site.prefix]),
            charge(.guessesForAddress, of: [Array(address.rawValue.utf8)]),
        ]
        let counts = guessCounts(of: address)
        let isOpen: SQL = """
            draft = \(draft.id) AND field = \(field.rawValue) AND generation = \(proof.generation)
            AND attempts < \(code.attempts) AND failures < \(Proof.maximumFailures)
            AND now() < expires_at AND proved_at IS NULL
            """
        // Locks the row first, so that no other request changes the state of the code between the later statements.
        let lock: SQL = "SELECT FROM proofs WHERE draft = \(draft.id) AND field = \(field.rawValue) FOR UPDATE"
        let countsGuess: SQL = """
            EXISTS (SELECT FROM proofs WHERE \(isOpen) AND generation IS DISTINCT FROM ticket_generation)
            """
        let spend: SQL = """
            UPDATE proofs SET attempts = attempts + 1, failures = failures + 1
             WHERE \(isOpen) AND \(Self.isWithinLimits) AND NOT \(Self.hasTooManyFailures)
            RETURNING attempts, code_digest
            """
        let spent = try await converting(to: SubmitError.database) { () throws(DatabaseError) in
            let counting = counts.map {
                count($0, isKnown: "false", when: "\(Self.isWithinLimits) AND \(countsGuess)")
            }
            let rows = try await database.transaction(
                [lock, consume(charges, when: countsGuess)] + (counting ?? []) + [spend]
            )
            let row = try rows[rows.count - 1].first?.decode(Int.self, [UInt8]?.self)
            let tooMany = try counts.flatMap { counts throws(DatabaseError) in
                try exceeded(counts, named: Limits.Name.guessesForAddress.rawValue, rows[2], rows[3])
            }
            return (row: row, exceeded: try exceeded(charges, rows[1]) ?? tooMany)
        }
        if let exceeded = spent.exceeded { throw .limited(exceeded) }
        guard let (attempts, codeDigest) = spent.row else {
            // The code is no longer valid: its attempts or those of the draft are used up, it has expired, or another
            // request has replaced it or proved the address with it. The current draft shows which of these is true.
            let draft = try await reread(draft, orThrow: SubmitError.find)
            if draft.account != nil { throw .committed }
            guard let current = draft.proofs[field], current.generation == proof.generation, current.isForCurrentAddress
            else {
                throw .refused([Refusal(field, .codeExpired)])
            }
            if current.isProved {
                try checkRepetition(digits, on: field, code, of: draft)
                return nil
            }
            throw .refused([Self.refusal(of: field, current, code, at: draft.now)])
        }
        let candidates = codeDigests(digits, of: draft.id, address: address, generation: proof.generation)
        guard let digest = codeDigest, candidates.contains(where: { $0.equalsInConstantTime(digest) }) else {
            let attemptsLeft = JSON.integer(max(0, code.attempts - attempts))
            throw .refused([Refusal(field, .codeWrong, ["attempts_left": attemptsLeft])])
        }
        return proof.generation
    }

    /// The counts of wrong guesses at the codes of all recoveries for an address; nil if this flow is not a recovery. A
    /// correct guess in a recovery can give access to the account, so a sequence of more than 100 wrong guesses must be
    /// impossible (NIST SP 800-63B-4 §3.2.2).
    func guessCounts(of address: EmailAddress) -> FailureCounts? {
        flow.purpose == .recovery
            ? failureCounts("code of a recovery", Array(address.rawValue.utf8), nil) : nil
    }

    /// Throws `refused` unless the digits are those of the code that has proved the address. Counts no attempt, because
    /// a correct guess has no effect.
    func checkRepetition(
        _ digits: String,
        on field: FieldName,
        _ code: CodeField,
        of draft: Draft
    ) throws(SubmitError) {
        // Earlier versions of the service did not keep the digest of an accepted code. After such a code, any digits
        // pass.
        if let proof = draft.proofs[field], proof.isProved, proof.acceptedCodeDigest == nil { return }
        guard let proof = draft.proofs[field], let accepted = proof.acceptedCodeDigest,
            let address = draft.values.address(in: code.proves),
            codeDigests(digits, of: draft.id, address: address, generation: proof.generation)
                .contains(where: { $0.equalsInConstantTime(accepted) })
        else { throw .refused([Refusal(field, .codeWrong)]) }
    }

    private static func refusal(of field: FieldName, _ proof: Proof, _ code: CodeField, at now: Date) -> Refusal {
        if proof.isExhausted { return .exhausted(field) }
        return Refusal(field, now >= proof.expiresAt && proof.attempts < code.attempts ? .codeExpired : .codeExhausted)
    }
}

extension Collection<UInt8> {
    /// Compares the bytes in a time that depends only on the lengths.
    package func equalsInConstantTime(_ other: some Collection<UInt8>) -> Bool {
        count == other.count && zip(self, other).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

extension Refusal {
    /// The refusal after ``Proof/maximumFailures`` wrong codes: the draft gets no further code, and the person must
    /// start again.
    static func exhausted(_ field: FieldName) -> Refusal { Refusal(field, .codeExhausted, ["final": true]) }
}
