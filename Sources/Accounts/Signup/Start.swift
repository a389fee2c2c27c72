internal import Foundation

package enum StartError: Error {
    case limited(LimitReached)
    case database(DatabaseError)
}

extension Signups {
    /// Starts a draft without answers, such as a sign-up. A client can access it only with the returned token, until a
    /// link moves the draft to another token (``resume(_:openedBy:)``).
    ///
    /// - Parameter destination: the application or the page to which the person returns after the sign-up; nil if the
    ///   person came from neither.
    package func start(
        in language: Language,
        for destination: DraftDestination? = nil
    ) async throws(StartError) -> (draft: Draft, token: Token<Draft>) {
        try await start(with: Values(), in: language, for: destination)
    }

    /// Starts the draft of a form. If the form is sent again within an hour after it was made, returns the same draft,
    /// if it is still open and does not know an account that it will change (``Values/subject``).
    ///
    /// - Parameter destination: as for ``start(in:for:)``, but ignored if the form has already started the draft.
    package func start(
        by form: FirstForm,
        in language: Language,
        for destination: DraftDestination? = nil
    ) async throws(StartError) -> (draft: Draft, token: Token<Draft>) {
        try await start(by: form, with: Values(), in: language, for: destination)
    }

    func start(
        by form: FirstForm,
        with values: Values,
        in language: Language,
        for destination: DraftDestination? = nil
    ) async throws(StartError) -> (draft: Draft, token: Token<Draft>) {
        guard form.isRecent else { return try await start(with: values, in: language, for: destination) }
        let tokens = form.tokens(keys)
        if let started = try await store(newDraft(with: values, in: language, for: destination, token: tokens[0])) {
            return (started, tokens[0])
        }
        for token in tokens {
            do throws(FindError) {
                let draft = try await find(token)
                if draft.account == nil, draft.values.subject == values.subject { return (draft, token) }
            } catch {
                if case .database(let error) = error { throw .database(error) }
            }
        }
        // The draft that the form has started cannot be used: for example, it is committed or has ended.
        return try await start(with: values, in: language, for: destination)
    }

    /// The draft that the form would start. It is not stored.
    package func unstoredDraft(of form: FirstForm, in language: Language) -> Draft {
        newDraft(with: Values(), in: language, token: form.tokens(keys)[0])
    }

    func start(
        with values: Values,
        in language: Language,
        for destination: DraftDestination? = nil
    ) async throws(StartError) -> (draft: Draft, token: Token<Draft>) {
        let token = Token<Draft>(for: ID())
        guard let draft = try await store(newDraft(with: values, in: language, for: destination, token: token)) else {
            throw .database(.unexpectedAnswer("no draft was inserted, but no limit is exceeded"))
        }
        return (draft, token)
    }

    /// Inserts the draft, and returns it with the times of the database; nil if ``insert(_:when:)`` inserts nothing
    /// because of an earlier draft.
    private func store(_ draft: Draft) async throws(StartError) -> Draft? {
        let limits = charges(.starts, of: network)
        let insert = insert(draft, when: Self.isWithinLimits)
        let (row, exceeded) = try await converting(to: StartError.database) { () throws(DatabaseError) in
            let rows = try await database.transaction(consume(limits), insert)
            return (try rows[1].first?.decode(Date.self, Date.self), try self.exceeded(limits, rows[0]))
        }
        if let exceeded { throw .limited(exceeded) }
        guard let (now, expiresAt) = row else { return nil }
        funnel.started(at: draft.step, of: flow)
        return draft.stored(
            at: now,
            expiresAt: expiresAt,
            endsAt: now + Double(flow.expiry.absolute.seconds)
        )
    }

    /// Returns a draft that is not stored yet.
    ///
    /// - Parameter now: the time of its start; by default, the time of this process.
    func newDraft(
        with values: Values,
        in language: Language,
        for destination: DraftDestination? = nil,
        token: Token<Draft>,
        now: Date = Date()
    ) -> Draft {
        let id = token.id
        // The flow has texts only in its own languages.
        let language = flow.languages.contains(language) ? language : flow.languages[0]
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
        return Draft(
            id: id,
            flow: flow.id,
            language: language,
            step: SignupProgress(of: context).step,
            revision: 1,
            values: values,
            proofs: [:],
            expiresAt: now,
            endsAt: now + Double(flow.expiry.absolute.seconds),
            updatedAt: now,
            now: now,
            account: nil,
            tokenHash: token.hash,
            sealed: keys.seal(values.sealable, for: .draft(id, tokenHash: token.hash, revision: 1))
        )
    }

    /// Returns a statement that inserts a new draft, and selects the time of the database and the expiry of the draft.
    /// The statement inserts nothing if the condition is false, if there is a draft with this id, or if `endings` has
    /// the reason why an earlier draft of the token ended.
    func insert(_ draft: Draft, when condition: SQL) -> SQL {
        let digest = identifyingAddress(in: draft.values).map { addressDigests($0)[0] }
        return """
            INSERT INTO drafts (id, token_hash, ends_at, locale, flow, step, sealed, email_digest)
            SELECT \(draft.id), \(draft.tokenHash), now() + make_interval(secs => \(flow.expiry.absolute.seconds)),
                   \(draft.language.tag), \(draft.flow), \(flow.purpose.prefix + draft.step), \(draft.sealed), \(digest)
             WHERE \(condition) AND NOT EXISTS (SELECT FROM endings WHERE token_hash = \(draft.tokenHash))
                ON CONFLICT DO NOTHING
            RETURNING now(), \(deadline)
            """
    }
}
