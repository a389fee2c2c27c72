package import Logging

/// Signs people in and out, and lets them change their accounts. Each act has its own file, in this folder, in
/// `AccountChanges` or in `AccountFlows`.
package struct Sessions: Sendable {
    package let signups: Signups
    /// The hash with which a password is compared if there is no account, or if the account has no hash that this
    /// server can check. The comparison takes as long as with a hash of the present settings.
    let dummyHash: StoredPassword
    /// The minimum duration of a failed sign-in, and of a request that mails a code to an identifier. It should be
    /// longer than the comparison of a password with any hash that this service made.
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
    /// The person must first enter a second factor or a mailed code, with the token of this sign-in.
    case pending(PendingSignIn)
    /// The account knows the device now, so the person can sign in there with the password.
    case deviceKnown(DeviceToken)
}

/// A session that a sign-in or a commit has started, or that an act such as a confirmation has given a new token. The
/// database stores only a hash of the token.
package struct NewSession: Sendable {
    package let session: AccountSession
    package let token: Token<AccountSession>
    /// The device token that the client must store; nil if there is none to store.
    package let device: DeviceToken?
    /// The new recovery code, which replaces the one that was used; nil if none was used.
    package var recoveryCode: RecoveryCode?
}
