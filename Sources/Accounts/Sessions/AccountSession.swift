package import Foundation

/// One signed-in browser or device of an account.
package struct AccountSession: Sendable {
    package let id: ID<AccountSession>
    package let account: Account
    package let assurance: Assurance
    package let methods: SignInMethods
    /// Whether the session outlives the browser.
    package let isKept: Bool
    /// When the person last proved who they are.
    package let authTime: Date
    package let createdAt: Date
    package let lastSeenAt: Date
    package let expiresAt: Date
    package let idleExpiresAt: Date
    /// The time of the database.
    package let now: Date
    let tokenHash: [UInt8]

    /// Whether the last use of the session is too long ago. Then a session with two factors must be confirmed with the
    /// password, and a session with one factor has ended.
    package var isIdle: Bool { idleExpiresAt <= now }
}

/// The authenticator assurance level (NIST SP 800-63B-4 §2): one factor, or two.
package enum Assurance: Int, Sendable {
    case aal1 = 1
    case aal2 = 2

    package var name: String { "aal\(rawValue)" }

    /// The time from the sign-in or, with one factor, the last confirmation to the end of the session (SP 800-63B-4
    /// §2.1.3 and §2.2.3).
    func lifetime(isKept: Bool) -> Duration { self == .aal1 && isKept ? .seconds(30 * 86_400) : .seconds(86_400) }

    /// The lifetime of a session that outlives the browser.
    package var keptLifetime: Duration { lifetime(isKept: true) }

    /// The time without a request after which the session is idle.
    func idleTime(isKept: Bool) -> Duration {
        switch self {
        case .aal1: isKept ? .seconds(14 * 86_400) : .seconds(86_400)
        case .aal2: .seconds(3600)
        }
    }
}

/// The methods with which a person has signed in, as values of `amr` (RFC 8176).
package struct SignInMethods: Hashable, Sendable {
    package let words: [String]

    package static let password = SignInMethods(words: ["pwd"])
    package static let mailedCode = SignInMethods(words: ["otp"])

    init(words: [String]) { self.words = words }

    /// Reads ``text``.
    init(_ text: String) { words = text.split(separator: " ").map(String.init) }

    /// The words with a space between them, as the database stores them.
    var text: String { words.joined(separator: " ") }

    /// These methods and a second factor: a code of the authenticator app or a recovery code.
    var withSecondFactor: SignInMethods {
        SignInMethods(words: words.filter { !["otp", "mfa"].contains($0) } + ["otp", "mfa"])
    }
}

/// A client that signs in, as far as its request describes it.
package struct SessionClient: Sendable {
    /// The first 200 bytes of the header `User-Agent`; nil if the request has none.
    package let browser: String?
    /// The device token in the cookie or the body of the request; nil if it has none.
    package let device: DeviceToken?

    package init(browser: String?, device: DeviceToken?) {
        self.browser = browser.map { String(decoding: $0.utf8.prefix(200), as: UTF8.self) }
        self.device = device
    }
}

extension AccountSession {
    /// The columns of a session and its account, in the order of ``init(_:)``. The query must name the session
    /// `session` and the account `accounts`.
    static let columns: SQL = """
        session.id, session.token_hash, assurance, methods, is_kept, auth_time, session.created_at, last_seen_at, ends_at,
        least(last_seen_at + idle_after, ends_at), now(), accounts.id, email, email_proved_at IS NOT NULL, username,
        profile::text, accounts.created_at
        """

    init(_ row: Row) throws(DatabaseError) {
        var columns = row.columns
        try self.init(&columns)
    }

    init(_ columns: inout Columns) throws(DatabaseError) {
        id = try columns.next()
        tokenHash = try columns.next()
        guard let assurance = Assurance(rawValue: try columns.next()) else {
            throw .unexpectedAnswer("a session has an unknown assurance level")
        }
        self.assurance = assurance
        methods = SignInMethods(try columns.next(String.self))
        isKept = try columns.next()
        authTime = try columns.next()
        createdAt = try columns.next()
        lastSeenAt = try columns.next()
        expiresAt = try columns.next()
        idleExpiresAt = try columns.next()
        now = try columns.next()
        account = try Account(&columns)
    }
}
