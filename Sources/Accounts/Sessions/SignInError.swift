package enum SignInError: Error {
    /// The identifier, the password or the second factor is wrong, the account is disabled, or it has changed in the
    /// meantime.
    case failed
    /// Too many guesses have failed, or an operator has removed the authenticator. The device needs a mailed code
    /// before the next guess is evaluated.
    case codeRequired
    /// The token was never issued, has expired or was replaced, its session or sign-in has ended, or the account is
    /// disabled.
    case noSession
    /// The session is idle. A confirmation with the password makes it usable again.
    case idle
    /// The act needs a confirmation first (``Sessions/confirm(_:by:)``).
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
    /// The ``Ticket`` was used, has expired, was never mailed, or is not for a sign-in.
    case ticketExpired
    /// No key of the key ring decrypts a value in the database.
    case unreadable(Unreadable)
    case database(DatabaseError)
}
