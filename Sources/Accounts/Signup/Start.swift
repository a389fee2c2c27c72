internal import Foundation

package enum StartError: Error {
    case limited(LimitReached)
    case database(DatabaseError)
}

extension Signups {
    /// Starts a sign-up: creates an empty draft, and the token that is the only way to access it.
    package func start(in language: Language) async throws(StartError) -> (draft: Draft, token: Token) {
        let id = ID<Draft>()
        let token = Token(for: id)
        let values = Values()
        let sealed = keys.seal(values.sealable, for: id.bytes)
        let limits = [charge(.starts, network.prefix)]
        let insert: SQL = """
            INSERT INTO drafts (id, token_hash, ends_at, locale, flow, step, sealed)
            SELECT \(id), \(token.hash), now() + make_interval(secs => \(flow.expiry.absolute.seconds)),
                   \(language.rawValue), \(flow.id), \(flow.steps[0].name.rawValue), \(sealed)
             WHERE \(Self.isWithinLimits)
            RETURNING now(), \(deadline), revision
            """
        let (row, exceeded) = try await converting(to: StartError.database) { () throws(DatabaseError) in
            let rows = try await database.transaction(consume(limits), insert)
            return (try rows[1].first?.decode(Date.self, Date.self, Int.self), try self.exceeded(limits, rows[0]))
        }
        if let exceeded { throw .limited(exceeded) }
        guard let (now, expiresAt, revision) = row else {
            throw .database(.unexpectedAnswer("no draft was inserted, but no limit is exceeded"))
        }
        let draft = Draft(
            id: id,
            flow: flow.id,
            language: language,
            step: flow.steps[0].name.rawValue,
            revision: revision,
            values: values,
            proofs: [:],
            expiresAt: expiresAt,
            updatedAt: now,
            now: now,
            account: nil,
            tokenHash: token.hash,
            sealed: sealed
        )
        funnel.entered(draft.step, of: flow)
        return (draft, token)
    }
}
