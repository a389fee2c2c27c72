extension Sessions {
    /// Whether the account of the session has no authenticator app although the flow requires one: the account was
    /// imported, an operator has removed a lost app, or the flow did not require one before.
    package func lacksAuthenticator(_ session: AccountSession) async throws(DatabaseError) -> Bool {
        // A session with two factors shows that the account has an app. A session with one factor may also belong to an
        // account with an app, after a sign-up without a password.
        guard flow.requiresAuthenticator, session.assurance == .aal1 else { return false }
        return try await database.read("SELECT FROM authenticators WHERE account = \(session.account.id)").isEmpty
    }
}
