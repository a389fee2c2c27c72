extension Signups {
    /// Stores the language in which the service shows the draft and sends its mail. Does not change the values, the
    /// revision or the expiry of the draft. Does nothing if no draft has the token.
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
