import Accounts
import HTTPTypes
import Hummingbird

/// The cookies that a browser gets when a person signs in.
struct SessionCookies: Sendable {
    /// The cookie with the token of a session, or of a sign-in that waits for a code.
    let session: TokenCookie
    /// The cookie that shows that a person has signed in or entered a mailed code in this browser before. It gives no
    /// access to an account.
    let device: TokenCookie
    /// The cookie with the new recovery codes of the account, encrypted for the session. The browser keeps it until the
    /// person confirms that the codes are saved, but not longer than the cookie of the session.
    let recoveryCodes: TokenCookie

    init(isSecure: Bool) {
        session = TokenCookie("session", isSecure: isSecure)
        device = TokenCookie("device", isSecure: isSecure)
        recoveryCodes = TokenCookie("recovery-codes", isSecure: isSecure)
    }

    /// - Parameter device: the device token in the body, where a client without cookies sends it; nil to read the
    ///   cookie.
    func client(of request: Request, device: DeviceToken? = nil) -> SessionClient {
        SessionClient(
            browser: request.headers[.userAgent],
            device: device ?? self.device.values(in: request.headers).lazy.compactMap { DeviceToken($0) }.first
        )
    }
}

extension Answer {
    /// The answer to a client whose session has ended. A browser then deletes the cookie of the session, the cached
    /// pages and the stored data of the site.
    static func signedOut(_ cookies: SessionCookies) -> Answer {
        var answer = Answer(status: .noContent, headers: [.clearSiteData: "\"cache\", \"storage\""])
        answer.headers.append(cookies.session.clear)
        return answer
    }

    /// Adds the session, its token, and a new recovery code and a device token if there are any. The tokens are in the
    /// body for a client that uses bearer tokens, otherwise in cookies.
    mutating func add(_ new: NewSession, isBearer: Bool, _ cookies: SessionCookies) {
        let (session, token) = (new.session, new.token.text)
        add([.init("session", session.json)])
        if let code = new.recoveryCode { add([.init("recovery_code", .string(code.text))]) }
        if isBearer {
            add([.init("token", .string(token))])
        } else {
            headers.append(cookies.session.set(token, for: session.cookieLifetime))
        }
        if let device = new.device { add(device, isBearer: isBearer, cookies) }
    }

    mutating func add(_ device: DeviceToken, isBearer: Bool, _ cookies: SessionCookies) {
        if isBearer {
            add([.init("device", .string(device.text))])
        } else {
            headers.append(cookies.device.set(device.text, for: DeviceToken.lifetime))
        }
    }

    private mutating func add(_ members: [JSON.Member]) {
        guard case .object(let before)? = json else { return }
        json = .object(before + members)
    }
}

extension AccountSession {
    /// The lifetime of the session's cookies; nil if the browser deletes them when it closes.
    var cookieLifetime: Duration? { isKept ? assurance.keptLifetime : nil }

    /// The session as clients see it.
    var json: JSON {
        [
            "id": .string("\(id)"), "state": "active", "assurance": .string(assurance.name),
            "amr": .array(methods.words.map(JSON.string)), "auth_time": .string(authTime.timestamp),
            "created_at": .string(createdAt.timestamp), "expires_at": .string(expiresAt.timestamp),
            "idle_expires_at": .string(idleExpiresAt.timestamp),
        ]
    }
}
