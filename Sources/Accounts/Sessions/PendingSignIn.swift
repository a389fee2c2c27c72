/// A sign-in that waits for a second factor or for a mailed code.
package struct PendingSignIn: Sendable {
    package enum Awaited: String, Sendable {
        case secondFactor = "second-factor"
        case code
    }

    package let token: Token<PendingSignIn>
    package let awaits: Awaited
    /// The device token that the client must store; nil if there is none to store.
    package var device: DeviceToken?

    /// The time within which the second factor or the mailed code must be entered.
    package static let lifetime = Duration.seconds(600)
    /// The number of wrong codes after which the person must start the sign-in again or, if the code was mailed, needs
    /// another code.
    package static let maximumAttempts = 5
}

extension Sessions {
    /// Returns what the sign-in waits for; nil if no sign-in has this token, or the sign-in has ended. Too many wrong
    /// mailed codes do not end the sign-in, because its page offers another code.
    package func awaited(by token: Token<PendingSignIn>) async throws(SignInError) -> PendingSignIn.Awaited? {
        let awaited = try await converting(to: SignInError.database) { () throws(DatabaseError) in
            try await database.read(
                """
                SELECT awaits FROM sign_ins
                 WHERE \(Self.has(token)) AND now() < expires_at
                   AND (awaits = 'code' OR attempts < \(PendingSignIn.maximumAttempts))
                """
            ).first?.decode(String.self)
        }
        return awaited.flatMap { PendingSignIn.Awaited(rawValue: $0) }
    }
}
