/// A value in the database that this server cannot read: no key of its key ring decrypts the value, or the decrypted
/// bytes have an unknown format. Another server may be able to read it, unless somebody has changed the row.
package enum Unreadable: Sendable {
    case draft(ID<Draft>)
    /// The address of a ticket.
    case ticket(ID<Ticket>)
    case authenticator(of: ID<Account>)
    /// The address or username for which a person has requested a code to sign in.
    case signIn(ID<PendingSignIn>)
    /// An address that an account has left.
    case leftAddress(of: ID<Account>)
    /// The private key with which the service signs by one algorithm.
    case signingKey
}
