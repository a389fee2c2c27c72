package import Logging

/// Everything that a person can do to sign in and out, and with the own account. Each act is a file in this folder or in
/// `AccountChanges`.
package struct Sessions: Sendable {
    package let signups: Signups
    /// Stands for the password of an account that does not exist, so that its check takes as long as any other.
    let dummyHash: StoredPassword
    /// The minimum time of a failed sign-in, which is longer than the check of any hash of this service.
    let failureTime: Duration
    /// How long checks of other hashes take.
    package let importedKinds: ImportedKinds
    private(set) var client = SessionClient(browser: nil, device: nil)

    var database: Database { signups.database }
    var keys: KeyRing { signups.keys }
    package var flow: Flow { signups.flow }

    package init(
        signups: Signups,
        failureTime: Duration = .milliseconds(300),
        logger: Logger = Logger(label: "sessions") { _ in SwiftLogNoOpLogHandler() }
    ) {
        self.signups = signups
        self.failureTime = failureTime
        importedKinds = ImportedKinds(signups: signups, logger: logger)
        var random = SystemRandomNumberGenerator()
        dummyHash = StoredPassword(
            PHCString(
                parameters: signups.hashing.parameters,
                keyID: signups.keys.pepper?.id,
                salt: (0..<16).map { _ in UInt8.random(in: 0...255, using: &random) },
                tag: (0..<32).map { _ in UInt8.random(in: 0...255, using: &random) }
            )
        )
    }

    /// A copy for that client in that network.
    package func from(_ network: Network, _ client: SessionClient) -> Sessions {
        Sessions(of: self, signups.from(network), client)
    }

    private init(of other: Sessions, _ signups: Signups, _ client: SessionClient) {
        (self.signups, self.client) = (signups, client)
        (dummyHash, failureTime, importedKinds) = (other.dummyHash, other.failureTime, other.importedKinds)
    }

    /// The device of the client: a new one if it has none.
    var device: DeviceToken { client.device ?? DeviceToken() }
}

/// A sign-in that has gone one step further.
package enum SignInProgress: Sendable {
    /// The person is signed in.
    case session(NewSession)
    /// The person must enter something else first, with this token.
    case pending(PendingSignIn)
    /// The device is known now, so that the password is enough.
    case deviceKnown(DeviceToken)
}

/// A session with its token, which only this answer contains.
package struct NewSession: Sendable {
    package let session: AccountSession
    package let token: Token<AccountSession>
    /// Nil if the client keeps the one that it has.
    package let device: DeviceToken?
    /// Replaces the recovery code that was used.
    package var recoveryCode: RecoveryCode?
}

/// A sign-in that waits for something.
package struct PendingSignIn: Sendable {
    package enum Awaited: String, Sendable {
        case secondFactor = "second-factor"
        case code
    }

    package let token: Token<PendingSignIn>
    package let awaits: Awaited
    /// Nil if the client keeps the one that it has.
    package var device: DeviceToken?

    /// A second factor must be entered in this time, a mailed code too.
    package static let lifetime = Duration.seconds(600)
    /// The number of wrong codes after which the sign-in begins again.
    package static let maximumAttempts = 5
}

package enum SignInError: Error {
    /// The identifier or the password is wrong, or the account is disabled.
    case failed
    /// Too many sign-ins have failed: an unknown device needs a mailed code first.
    case codeRequired
    /// The token was never issued, has expired, or its session has ended.
    case noSession
    /// The session is idle, and a password revives it.
    case idle
    /// The change needs a confirmation first (``Sessions/confirm(_:by:)``).
    case confirmationRequired
    /// The account has no such factor, the flow asks for none, or the session has only one factor.
    case noSuchFactor
    /// The flow requires the factor of every account.
    case factorRequired
    case refused([Refusal])
    case limited(LimitReached)
    case hashing(HashingError)
    case image(ImageError)
    /// The ticket was used, has expired, or was never mailed.
    case ticketExpired
    /// No key of the ring opens what the database holds.
    case unreadable
    case database(DatabaseError)
}
