extension Signups {
    /// Shows the draft in another language of the flow from now on, and mails in it. Values, revision and expiry stay as
    /// they are. Does nothing if the token has no draft.
    package func choose(_ language: Language, for token: Token<Draft>) async throws(DatabaseError) {
        _ = try await database.write(
            """
            UPDATE drafts SET locale = \(language.tag)
             WHERE id = \(token.id) AND token_hash = \(token.hash) AND locale <> \(language.tag)
            """,
            to: token.id.rawValue
        )
    }
}
