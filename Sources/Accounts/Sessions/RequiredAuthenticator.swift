extension Sessions {
    /// Whether the account of the session has no authenticator app although the flow requires one. For example, the
    /// account was imported, an operator or the undo of a change of the address has removed the app, or the flow did
    /// not require one before. False for a session with two factors.
    package func lacksAuthenticator(_ session: AccountSession) async throws(DatabaseError) -> Bool {
        // A session with two factors belongs to an account with an app, unless the person has removed the app in this
        // session, under an earlier flow. A session with one factor may also belong to an account with an app, after a
        // sign-up without a password.
        guard flow.requiresAuthenticator, session.assurance == .aal1 else { return false }
        return try await database.read("SELECT FROM authenticators WHERE account = \(session.account.id)").isEmpty
    }
}
