/// The authorization request that has led to a sign-up or a recovery. The person goes on with the request after the
/// commit. The draft contains it, so it is kept as long as the draft.
package struct DraftAuthorization: Hashable, Sendable {
    /// The request in memory of its own: it is large, most drafts have none, and many functions copy the values of a
    /// draft.
    private indirect enum Box: Hashable, Sendable {
        case request(AuthorizationRequest)
    }

    private let box: Box
    /// The hash of the draft's token when the request was stored. If the draft has another token now, it has moved to
    /// another device, whose browser does not know the request.
    let tokenHash: [UInt8]

    package var request: AuthorizationRequest {
        switch box {
        case .request(let request): request
        }
    }

    init(_ request: AuthorizationRequest, tokenHash: [UInt8]) {
        (box, self.tokenHash) = (.request(request), tokenHash)
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
    /// Returns the request that the client of the draft goes on with after the commit; nil if the draft has none, or if
    /// the draft has moved to another device since.
    ///
    /// - Parameter account: the account that the commit has created. The request counts as made when the account was
    ///   created, so the person need not prove again who they are.
    package func authorization(committedAs account: Account) -> AuthorizationRequest? {
        guard let authorization = values.authorization, authorization.tokenHash == tokenHash else { return nil }
        return authorization.request.answered(bySignUpAt: account.createdAt)
    }

    /// Returns the request that the client of the draft goes on with after a recovery; nil if the draft has none, or if
    /// the draft has moved to another device since.
    ///
    /// - Parameter session: the session that the recovery has begun. The request counts as made when the session began,
    ///   so the person need not prove again who they are.
    package func authorization(recoveredBy session: AccountSession) -> AuthorizationRequest? {
        guard let authorization = values.authorization, authorization.tokenHash == tokenHash else { return nil }
        return authorization.request.made(at: session.createdAt).choosing(session.id)
    }

    /// The URLs to which the browser may go after the commit: the redirect URI of the request, and the application's
    /// `initiate_login_uri`, in case the service cannot continue the request (``Application/initiateLoginURI``). Empty
    /// if the draft has no request.
    package func authorizationTargets(among applications: Applications) -> [String] {
        guard let request = values.authorization?.request else { return [] }
        return [request.redirectURI, applications[request.application]?.initiateLoginURI].compactMap(\.self)
    }

    /// Whether the draft already contains this request, whatever its ``AuthorizationRequest/madeAt`` is, and has not
    /// moved to another device since.
    func contains(_ request: AuthorizationRequest) -> Bool {
        values.authorization
            == DraftAuthorization(
                request.made(at: values.authorization?.request.madeAt ?? request.madeAt),
                tokenHash: tokenHash
            )
    }

    /// The id of the application whose request the draft contains, even if the draft has moved to another device since;
    /// nil if there is none.
    package var application: String? { values.authorization?.request.application }
}
