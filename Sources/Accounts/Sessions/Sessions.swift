package import Logging

/// Signs people in and out, and lets them change their accounts. Each act is a file in this folder or in
/// `AccountChanges`.
package struct Sessions: Sendable {
    package let signups: Signups
    /// The hash that a password is compared with if there is no account, so that this check takes as long as any other.
    let dummyHash: StoredPassword
    /// The minimum duration of a failed sign-in. It is longer than the check of any hash that this service makes.
    let failureTime: Duration
    /// Measures how long checks of imported hashes take.
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
        dummyHash = StoredPassword(
            PHCString(
                parameters: signups.hashing.parameters,
                keyID: signups.keys.pepper?.id,
                salt: [UInt8].random(count: 16),
                tag: [UInt8].random(count: 32)
            )
        )
    }

    /// Returns a copy for that client in that network.
    package func from(_ network: Network, _ client: SessionClient) -> Sessions {
        Sessions(of: self, signups.from(network), client)
    }

    private init(of other: Sessions, _ signups: Signups, _ client: SessionClient) {
        (self.signups, self.client) = (signups, client)
        (dummyHash, failureTime, importedKinds) = (other.dummyHash, other.failureTime, other.importedKinds)
    }

    /// The device token of the client; a new token if the client has none.
    var device: DeviceToken { client.device ?? DeviceToken() }
}

/// The result of one step of a sign-in.
package enum SignInProgress: Sendable {
    /// The person is signed in.
    case session(NewSession)
    /// The person must first enter a second factor or a mailed code, with this token.
    case pending(PendingSignIn)
    /// The account knows the device now, so the person can sign in there with the password.
    case deviceKnown(DeviceToken)
}

/// A session that has just started or was confirmed, with its token. The database stores only a hash of the token.
package struct NewSession: Sendable {
    package let session: AccountSession
    package let token: Token<AccountSession>
    /// The device token that the client must store; nil if the client keeps the one that it has.
    package let device: DeviceToken?
    /// The new recovery code, which replaces the one that was used; nil if none was used.
    package var recoveryCode: RecoveryCode?
}

/// A sign-in that waits for a second factor or for a mailed code.
package struct PendingSignIn: Sendable {
    package enum Awaited: String, Sendable {
        case secondFactor = "second-factor"
        case code
    }

    package let token: Token<PendingSignIn>
    package let awaits: Awaited
    /// The device token that the client must store; nil if the client keeps the one that it has.
    package var device: DeviceToken?

    /// The time within which the second factor or the mailed code must be entered.
    package static let lifetime = Duration.seconds(600)
    /// The number of wrong codes after which the person must start the sign-in again.
    package static let maximumAttempts = 5
}

package enum SignInError: Error {
    /// The identifier or the password is wrong, or the account is disabled.
    case failed
    /// Too many guesses have failed, so the person needs a mailed code before the next one is evaluated.
    case codeRequired
    /// The token was never issued, has expired, or its session or sign-in has ended; or the account is disabled.
    case noSession
    /// The session is idle. A confirmation with the password makes it usable again.
    case idle
    /// The change needs a confirmation first (``Sessions/confirm(_:by:)``).
    case confirmationRequired
    /// The change is not possible: the flow has no such factor, the session has only one factor, or another request has
    /// changed the factor in the meantime.
    case noSuchFactor
    /// The factor cannot be removed, because the flow requires it of every account.
    case factorRequired
    case refused([Refusal])
    case limited(LimitReached)
    case hashing(HashingError)
    case image(ImageError)
    /// The ticket was used, has expired, or was never mailed.
    case ticketExpired
    /// No key of the key ring decrypts a value in the database.
    case unreadable
    case database(DatabaseError)
}
