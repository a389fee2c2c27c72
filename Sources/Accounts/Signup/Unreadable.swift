/// A value in the database that no key of the key ring decrypts. A server with another key ring may be able to decrypt
/// it, unless somebody has changed the row.
package enum Unreadable: Sendable {
    case draft(ID<Draft>)
    /// The address of a ticket.
    case ticket(ID<Ticket>)
    case authenticator(of: ID<Account>)
    /// What a person has typed to sign in with a mailed code.
    case signIn(ID<PendingSignIn>)
    /// An address that an account has left.
    case leftAddress(of: ID<Account>)
    /// The private key with which the service signs by one algorithm.
    case signingKey
}
