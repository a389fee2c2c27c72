extension Sessions {
    /// Whether the flow requires an authenticator app and the account of the session has none: it was imported, an operator
    /// has removed a lost app, or the flow has not always required one.
    package func lacksAuthenticator(_ session: AccountSession) async throws(DatabaseError) -> Bool {
        // With an app, only the commit of a sign-up without a password begins a session of one factor.
        guard flow.requiresAuthenticator, session.assurance == .aal1 else { return false }
        return try await database.read("SELECT FROM authenticators WHERE account = \(session.account.id)").isEmpty
    }
}
