internal import Foundation

/// The client that commits a draft. The commit starts a session for this client; the commit of an address change gives
/// the client's session a new token.
package struct CommittingClient: Sendable {
    let token: Token<Draft>
    let client: SessionClient
    let replaced: Token<AccountSession>?

    /// The time in seconds after a commit within which a repeated commit returns the same session.
    static let repeatable = 600.0

    /// - Parameters:
    ///   - token: the token of the draft.
    ///   - replaced: the present session of the client. The commit ends it, unless the draft changes the address.
    package init(token: Token<Draft>, client: SessionClient, replacing replaced: Token<AccountSession>? = nil) {
        (self.token, self.client, self.replaced) = (token, client, replaced)
    }

    /// Returns the tokens that the session may have, one for each key of the key ring. Each token is derived from a
    /// key, the draft's token and the nonce. So a repeated commit can return the session's token to a client that has
    /// lost the response. Nobody can compute the token without the key ring.
    func tokens(of session: ID<AccountSession>, _ nonce: [UInt8], _ keys: KeyRing) -> [Token<AccountSession>] {
        token.digests(for: "session of commit", nonce, keys).map { Token(for: session, derived: $0) }
    }

    /// Returns one device token for each key of the key ring: the token that the client has or, if it has none, a token
    /// that is derived in the same way as the session's token.
    func devices(_ nonce: [UInt8], _ keys: KeyRing) -> [DeviceToken] {
        token.digests(for: "device of commit", nonce, keys).map { client.device ?? DeviceToken(derived: $0) }
    }

    /// Returns the device token that the client gets with the session. A change of the address gives one only to a
    /// client that has sent none, for example because it keeps no cookies.
    func deviceToSend(_ device: DeviceToken, in purpose: FlowPurpose) -> DeviceToken? {
        purpose == .emailChange && client.device != nil ? nil : device
    }
}

/// The session that a commit starts, or the existing session to which a commit gives a new token.
struct SessionPlan: Sendable {
    let id: ID<AccountSession>
    let nonce: [UInt8]
    let client: CommittingClient
    let token: Token<AccountSession>
    let device: DeviceToken

    /// - Parameter session: the existing session that gets a new token; nil for a new session.
    init(_ client: CommittingClient, _ session: ID<AccountSession>?, _ keys: KeyRing) {
        id = session ?? ID<AccountSession>()
        self.client = client
        nonce = [UInt8].random(count: 16)
        token = client.tokens(of: id, nonce, keys)[0]
        device = client.devices(nonce, keys)[0]
    }
}

extension CommitPlan {
    /// The statements that start the session, or give it a new token, if the commit takes effect. The last statement
    /// selects the session. The statement before it stores the time if this is the first sign-in to the account. Empty
    /// if the commit signs nobody in.
    var sessionStatements: [SQL] {
        guard let session else { return [] }
        let end = [signups.noteFirstSignIn(to: owner), Signups.select(session.id)]
        let device = session.client.deviceToSend(session.device, in: signups.flow.purpose)
        let remember = device.map { signups.remember($0, of: owner) } ?? []
        if signups.flow.purpose == .emailChange { return [renew(session)] + remember + end }
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
        let endReplaced = Sessions.end(session.client.replaced, when: "EXISTS (SELECT FROM \(owner))")
        return [insert] + remember + endReplaced + end
    }

    private func renew(_ session: SessionPlan) -> SQL {
        """
        UPDATE sessions SET token_hash = \(session.token.hash), nonce = \(session.nonce)
         WHERE id = \(session.id) AND account IN (SELECT id FROM \(owner))
        """
    }

    /// The methods of the new session, and whether the person has proved two factors. In a sign-up, the methods are the
    /// password and the app that the draft has set up, or the mailed code if there is neither, but an address. In a
    /// recovery, the only method is the mailed code: ``sessionStatements`` adds a proved second factor. A change of the
    /// address starts no session.
    private var provedMethods: (methods: SignInMethods, hasTwoFactors: Bool) {
        switch signups.flow.purpose {
        case .signup: (SignInMethods(words: factors.isEmpty && email != nil ? ["otp"] : factors), factors.count > 1)
        case .recovery, .emailChange: (.mailedCode, hasProvedSecondFactor)
        }
    }

    /// Returns the session that the commit has started or to which it has given a new token; nil if there is none.
    ///
    /// - Parameter rows: the results of the transaction, of which those of ``sessionStatements`` are the last ones.
    func newSession(_ rows: [Rows]) throws(DatabaseError) -> NewSession? {
        guard let session else { return nil }
        try signups.countFirstSignIn(rows[rows.count - 2])
        let device = session.client.deviceToSend(session.device, in: signups.flow.purpose)
        return NewSession(session: try AccountSession(rows[rows.count - 1].only), token: session.token, device: device)
    }
}

extension Signups {
    /// Returns the session of this client's commit and its token: the session that the commit has started, or to which
    /// it has given a new token. Returns nil if the session has ended or has another token now.
    func session(
        startedBy client: CommittingClient,
        of account: ID<Account>
    ) async throws(DatabaseError) -> NewSession? {
        let rows = try await database.read(
            """
            SELECT id, nonce, token_hash FROM sessions
             WHERE account = \(account) AND nonce IS NOT NULL AND now() < ends_at
            """
        )
        for row in rows {
            let (id, nonce, hash) = try row.decode(ID<AccountSession>.self, [UInt8].self, [UInt8].self)
            let made = zip(client.tokens(of: id, nonce, keys), client.devices(nonce, keys))
            guard let (token, device) = made.first(where: { token, _ in token.hash == hash }),
                let session = try await database.read(Self.select(id)).first
            else { continue }
            return NewSession(
                session: try AccountSession(session),
                token: token,
                device: client.deviceToSend(device, in: flow.purpose)
            )
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
