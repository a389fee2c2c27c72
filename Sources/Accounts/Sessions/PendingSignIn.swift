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
