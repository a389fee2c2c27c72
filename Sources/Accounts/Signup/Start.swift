internal import Foundation

package enum StartError: Error {
    case limited(LimitReached)
    case database(DatabaseError)
}

extension Signups {
    /// Starts a sign-up: creates an empty draft, and the token that is the only way to access it.
    ///
    /// - Parameter destination: the application or the page to which the person returns after the sign-up; nil if the
    ///   person came from neither.
    package func start(
        in language: Language,
        for destination: DraftDestination? = nil
    ) async throws(StartError) -> (draft: Draft, token: Token<Draft>) {
        try await start(with: Values(), in: language, for: destination)
    }

    func start(
        with values: Values,
        in language: Language,
        for destination: DraftDestination? = nil
    ) async throws(StartError) -> (draft: Draft, token: Token<Draft>) {
        var (draft, token) = newDraft(with: values, in: language, for: destination)
        let limits = charges(.starts, of: network)
        let insert = insert(draft, when: Self.isWithinLimits)
        let (row, exceeded) = try await converting(to: StartError.database) { () throws(DatabaseError) in
            let rows = try await database.transaction(consume(limits), insert)
            return (try rows[1].first?.decode(Date.self, Date.self), try self.exceeded(limits, rows[0]))
        }
        if let exceeded { throw .limited(exceeded) }
        guard let (now, expiresAt) = row else {
            throw .database(.unexpectedAnswer("no draft was inserted, but no limit is exceeded"))
        }
        (draft.now, draft.updatedAt, draft.expiresAt) = (now, now, expiresAt)
        funnel.entered(draft.step, of: flow)
        return (draft, token)
    }

    /// Returns a draft that is not stored yet, with the times of this process, and its token.
    func newDraft(
        with values: Values,
        in language: Language,
        for destination: DraftDestination? = nil
    ) -> (draft: Draft, token: Token<Draft>) {
        let (id, now) = (ID<Draft>(), Date())
        let token = Token(for: id)
        var values = values
        if let destination { values.set(destination, tokenHash: token.hash) }
        let context = ValidationContext(
            flow: flow,
            now: now,
            language: language,
            serviceName: serviceName,
            values: values,
            proofs: [:]
        )
        let draft = Draft(
            id: id,
            flow: flow.id,
            language: language,
            step: SignupProgress(of: context).step,
            revision: 1,
            values: values,
            proofs: [:],
            expiresAt: now,
            updatedAt: now,
            now: now,
            account: nil,
            tokenHash: token.hash,
            sealed: keys.seal(values.sealable, for: .draft(id, tokenHash: token.hash, revision: 1))
        )
        return (draft, token)
    }

    /// Returns a statement that inserts a new draft, and selects the time of the database and the expiry of the draft.
    func insert(_ draft: Draft, when condition: SQL) -> SQL {
        let digest = identifyingAddress(in: draft.values).map { addressDigests($0)[0] }
        return """
            INSERT INTO drafts (id, token_hash, ends_at, locale, flow, step, sealed, email_digest)
            SELECT \(draft.id), \(draft.tokenHash), now() + make_interval(secs => \(flow.expiry.absolute.seconds)),
                   \(draft.language.tag), \(draft.flow), \(flow.purpose.prefix + draft.step), \(draft.sealed), \(digest)
             WHERE \(condition)
            RETURNING now(), \(deadline)
            """
    }
}
