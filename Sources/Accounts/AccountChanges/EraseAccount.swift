extension Sessions {
    /// Erases the account, what belongs to it, and the waiting mail about it (SQL function `erase_account`). If the
    /// account has an address, deletes the tickets (``Ticket``) that were mailed to it, and mails a notice to it.
    /// Throws `limited` if the address of the account changed less than a day ago, because the owner of the old address
    /// may want the account back.
    package func eraseAccount(of session: AccountSession, in language: Language) async throws(SignInError) {
        try requireConfirmation(of: session)
        let id = session.account.id
        let wait = try await converting(to: SignInError.database) { () throws(DatabaseError) in
            try await signups.waitAfterMove(of: id)
        }
        if let wait { throw .limited(signups.refused(by: wait)) }
        let erase: SQL = """
            SELECT \(Signups.setFlag("changed", "erase_account(\(id))")) WHERE \(Self.mayChange)
            """
        let tickets = session.account.email.flatMap { EmailAddress($0) }.map { address in
            signups.eraseTickets(of: address, when: Signups.flag("changed"))
        }
        try await changeCredentials(
            of: session,
            telling: .accountErased,
            in: language,
            [erase] + [tickets].compactMap { $0 }
        )
    }
}
