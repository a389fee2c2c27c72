internal import Foundation

package enum StartError: Error {
    case limited(LimitReached)
    case database(DatabaseError)
}

extension Signups {
    /// Begins a sign-up: an empty draft, and the token that is its only key.
    package func start(in language: Language) async throws(StartError) -> (draft: Draft, token: Token) {
        let id = ID<Draft>()
        let token = Token(for: id)
        let values = Values()
        let sealed = keys.seal(values.sealable, for: id.bytes)
        let charges = [charge(.starts, network.prefix)]
        let insert: SQL = """
            WITH current AS (SELECT), \(refused(charges)), started AS (
                INSERT INTO drafts (id, token_hash, ends_at, locale, flow, step, sealed)
                SELECT \(id), \(token.hash), now() + make_interval(secs => \(flow.absolute.seconds)),
                       \(language.rawValue), \(flow.id), \(flow.steps[0].name.rawValue), \(sealed)
                 WHERE NOT EXISTS (SELECT FROM refused)
                RETURNING \(deadline) AS deadline, revision
            )
            SELECT now(), (SELECT deadline FROM started), (SELECT revision FROM started), \([Charge].columns)
            """
        let row: (now: Date, expiresAt: Date?, revision: Int?, number: Int?, wait: Int?)
        do throws(DatabaseError) {
            row = try await database.transaction(insert)[0].only
                .decode(Date.self, Date?.self, Int?.self, Int?.self, Int?.self)
        } catch {
            throw .database(error)
        }
        if let reached = reached(charges, row.number, row.wait) { throw .limited(reached) }
        guard let expiresAt = row.expiresAt, let revision = row.revision else {
            throw .database(.unexpectedAnswer("a draft neither begun nor refused"))
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
            updatedAt: row.now,
            now: row.now,
            account: nil,
            tokenHash: token.hash,
            sealed: sealed
        )
        funnel.entered(draft.step, of: flow)
        return (draft, token)
    }
}
