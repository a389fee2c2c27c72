extension Sessions {
    /// Erases the account with everything that belongs to it, and tells its address.
    package func eraseAccount(of session: AccountSession, in language: Language) async throws(SignInError) {
        try requireConfirmation(of: session)
        let id = session.account.id
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
