internal import Foundation

/// The client that commits a sign-up, and is signed in by that.
package struct CommittingClient: Sendable {
    let token: Token<Draft>
    let client: SessionClient
    let replaced: Token<AccountSession>?

    /// The seconds after a commit in which it can be repeated with the same session.
    static let repeatable = 600.0

    /// - Parameters:
    ///   - token: the token of the draft.
    ///   - replaced: the session of the client, which ends.
    package init(token: Token<Draft>, client: SessionClient, replacing replaced: Token<AccountSession>? = nil) {
        (self.token, self.client, self.replaced) = (token, client, replaced)
    }

    /// The session's token under each key of the ring. It is derived, so that a repeated commit can give it again to the
    /// client that lost the answer. Without the key ring and the token of the draft nobody can compute it.
    func tokens(of session: ID<AccountSession>, _ nonce: [UInt8], _ keys: KeyRing) -> [Token<AccountSession>] {
        token.digests(for: "session of commit", nonce, keys).map { Token(for: session, derived: $0) }
    }

    /// The device of the client, or one that is derived like the session's token.
    func device(_ nonce: [UInt8], _ keys: KeyRing) -> DeviceToken {
        client.device ?? DeviceToken(derived: token.digests(for: "device of commit", nonce, keys)[0])
    }
}

/// The session that a commit starts.
struct SessionPlan: Sendable {
    let id: ID<AccountSession>
    let nonce: [UInt8]
    let client: CommittingClient
    let token: Token<AccountSession>
    let device: DeviceToken

    /// - Parameter session: the session that goes on with a new token; nil for a new session.
    init(_ client: CommittingClient, _ session: ID<AccountSession>?, _ keys: KeyRing) {
        id = session ?? ID<AccountSession>()
        var random = SystemRandomNumberGenerator()
        self.client = client
        nonce = (0..<16).map { _ in UInt8.random(in: 0...255, using: &random) }
        token = client.tokens(of: id, nonce, keys)[0]
        device = client.device(nonce, keys)
    }
}

extension CommitPlan {
    /// Statements that start the session if the account was created. The last one selects it; the one before notes the
    /// first sign-in.
    var sessionStatements: [SQL] {
        guard let session else { return [] }
        let end = [signups.noteFirstSignIn(to: owner), Signups.select(session.id)]
        if signups.flow.purpose == .emailChange { return [renew(session)] + end }
        let (methods, hasTwoFactors) = provedMethods
        let insert = signups.insertSession(
            session.id,
            tokenHash: session.token.hash,
            of: owner,
            hasTwoFactors ? .aal2 : .aal1,
            hasTwoFactors ? methods.withSecondFactor : methods,
            browser: session.client.client.browser,
            nonce: session.nonce
        )
        return [insert, signups.remember(session.device, of: owner)]
            + Sessions.end(session.client.replaced, when: "EXISTS (SELECT FROM \(owner))") + end
    }

    private func renew(_ session: SessionPlan) -> SQL {
        """
        UPDATE sessions SET token_hash = \(session.token.hash), nonce = \(session.nonce)
         WHERE id = \(session.id) AND account IN (SELECT id FROM \(owner))
        """
    }

    /// What the person has proved. Without a password, and in a recovery, that is the mailed code.
    private var provedMethods: (methods: SignInMethods, hasTwoFactors: Bool) {
        switch signups.flow.purpose {
        case .signup: (SignInMethods(words: factors.isEmpty && email != nil ? ["otp"] : factors), factors.count > 1)
        case .recovery, .emailChange: (.mailedCode, hasSecondFactor)
        }
    }

    /// - Parameter rows: the results of the transaction, of which those of ``sessionStatements`` are the last ones.
    func newSession(_ rows: [Rows]) throws(DatabaseError) -> NewSession? {
        guard let session else { return nil }
        try signups.countFirstSignIn(rows[rows.count - 2])
        let device = signups.flow.purpose == .emailChange ? nil : session.device
        return NewSession(session: try AccountSession(rows[rows.count - 1].only), token: session.token, device: device)
    }
}

extension Signups {
    /// The session that the commit of this client has started, if it has the same token still.
    func session(
        startedBy client: CommittingClient,
        of account: ID<Account>
    ) async throws(DatabaseError) -> NewSession? {
        let rows = try await database.read(
            "SELECT id, nonce, token_hash FROM sessions WHERE account = \(account) AND nonce IS NOT NULL"
        )
        for row in rows {
            let (id, nonce, hash) = try row.decode(ID<AccountSession>.self, [UInt8].self, [UInt8].self)
            guard let token = client.tokens(of: id, nonce, keys).first(where: { $0.hash == hash }),
                let session = try await database.read(Self.select(id)).first
            else { continue }
            let device = flow.purpose == .emailChange ? nil : client.device(nonce, keys)
            return NewSession(session: try AccountSession(session), token: token, device: device)
        }
        return nil
    }

    static func select(_ session: ID<AccountSession>) -> SQL {
        """
        SELECT \(AccountSession.columns) FROM sessions AS session JOIN accounts ON accounts.id = account
         WHERE session.id = \(session)
        """
    }
}
