/// The authorization request in whose answer a sign-up ends. It lies in the draft, so it survives everything that the draft
/// survives.
package struct DraftAuthorization: Hashable, Sendable {
    package let request: AuthorizationRequest
    /// The hash of the draft's token when the request came. Another token belongs to another device, whose browser knows
    /// nothing of the request.
    let tokenHash: [UInt8]

    init(_ request: AuthorizationRequest, tokenHash: [UInt8]) {
        (self.request, self.tokenHash) = (request, tokenHash)
    }

    init?(json: JSON) {
        guard let request = json["request"].flatMap({ AuthorizationRequest(json: $0) }),
            let hash = json["token"]?.string.flatMap({ [UInt8].fromBase64URL($0.utf8) })
        else { return nil }
        self.init(request, tokenHash: hash)
    }

    var json: JSON { ["request": request.json, "token": .string(tokenHash.base64URL)] }
}

extension Draft {
    /// The request that the client of the draft goes on with after the commit; nil if there is none, or if it came to
    /// another device.
    ///
    /// - Parameter account: what the draft has become. Whoever has signed up for the request need not do more for it, so it
    ///   counts as made at that time.
    package func authorization(committedAs account: Account) -> AuthorizationRequest? {
        guard let authorization = values.authorization, authorization.tokenHash == tokenHash else { return nil }
        return authorization.request.answered(bySignUpAt: account.createdAt)
    }

    /// The request that the client of the draft goes on with after a recovery; nil if there is none, or if it came to another
    /// device.
    ///
    /// - Parameter session: the one that the recovery has begun, with which the person has proved enough for the request.
    package func authorization(recoveredBy session: AccountSession) -> AuthorizationRequest? {
        guard let authorization = values.authorization, authorization.tokenHash == tokenHash else { return nil }
        return authorization.request.made(at: session.createdAt)
    }

    /// Where the browser may go after the commit: back to the application that has asked, or, on another device, to where
    /// that application begins a sign-in.
    package func authorizationTargets(among applications: Applications) -> [String] {
        guard let request = values.authorization?.request else { return [] }
        return [request.redirectURI, applications[request.application]?.initiateLoginURI].compactMap(\.self)
    }

    /// Whether the draft has this request already, made at whatever time.
    func authorizes(_ request: AuthorizationRequest) -> Bool {
        values.authorization
            == DraftAuthorization(
                request.made(at: values.authorization?.request.madeAt ?? request.madeAt),
                tokenHash: tokenHash
            )
    }

    /// The application that has asked, on this device or another.
    package var application: String? { values.authorization?.request.application }
}
