internal import Foundation

package enum StartError: Error {
    case database(DatabaseError)
}

extension Signups {
    /// Begins a sign-up: an empty draft, and the token that is its only key.
    package func start(in language: Language) async throws(StartError) -> (draft: Draft, token: Token) {
        let id = ID<Draft>()
        let token = Token(for: id)
        let values = Values()
        let sealed = keys.seal(values.sealable, for: id.bytes)
        let insert: SQL = """
            INSERT INTO drafts (id, token_hash, ends_at, locale, flow, step, sealed)
            VALUES (\(id), \(token.hash), now() + make_interval(secs => \(flow.absolute.seconds)),
                    \(language.rawValue), \(flow.id), \(flow.steps[0].name.rawValue), \(sealed))
            RETURNING now(), \(deadline), revision
            """
        do throws(DatabaseError) {
            let (now, expiresAt, revision) = try await database.write(insert, to: id.rawValue)[0]
                .decode(Date.self, Date.self, Int.self)
            let draft = Draft(
                id: id,
                flow: flow.id,
                language: language,
                revision: revision,
                values: values,
                proofs: [:],
                expiresAt: expiresAt,
                now: now,
                account: nil,
                tokenHash: token.hash,
                sealed: sealed
            )
            return (draft, token)
        } catch {
            throw .database(error)
        }
    }
}
