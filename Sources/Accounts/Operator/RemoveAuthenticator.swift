/// The result of ``Operator/removeAuthenticator(of:)``.
package struct AuthenticatorRemoval: Sendable {
    /// Whether the account had an authenticator app. If it had none, nothing has changed.
    package let hasChanged: Bool
    /// Whether each device now needs a mailed code before it can sign in with the password. False for an account
    /// without an app or an address.
    package let needsMailedCode: Bool
}

extension Operator {
    /// Removes the authenticator app and the recovery codes of an account whose person has lost the app, and writes an
    /// audit record. Ends the sessions and unfinished sign-ins of the account, and the recoveries and changes of
    /// address that have begun, forgets its known devices, and mails a notice to each of its addresses, within the
    /// limit `notices_to_account`.
    ///
    /// The lost phone may be a known device that has stored the password. So for at least thirty days no device can
    /// sign in with the password alone: each needs a mailed code first (NIST SP 800-63B-4 §4.2), as after too many
    /// failures (``FailureCounts``). This does not apply to an account without an address.
    ///
    /// - Returns: nil if the account does not exist.
    package func removeAuthenticator(of id: ID<Account>) async throws(DatabaseError) -> AuthenticatorRemoval? {
        let hasChanged = Signups.flag("changed")
        let (identifiers, addresses, language) = try await contacts(of: id)
        let hasAddress = identifiers.contains { $0.address != nil }
        let failures = identifiers.map { signups.failureCounts("password", $0.bytes, nil).ofStrangers }
        // An account without an address could get no mailed code, so its password stays usable.
        let subjects = hasAddress ? failures.flatMap(\.subjects) : []
        let (count, memory) = (failures.first?.maximum ?? 0, failures.first?.memory.seconds ?? 0)
        let remove: SQL = """
            remove_authenticator(\(id), \(author), \(ByteStrings(subjects)), \(count),
                                 now() + make_interval(secs => \(memory)))
            """
        let end = ["sessions", "sign_ins", "devices"].map { table -> SQL in
            "DELETE FROM \(SQL(stringLiteral: table)) WHERE account = \(id) AND \(hasChanged)"
        }
        let tell = addresses.map { address in
            signups.mail(about: .authenticatorRemovedByOperator, on: id, to: address, in: language, when: hasChanged)
        }
        let rows = try await database.transaction(
            [Sessions.lockForChange(id), "SELECT \(Signups.setFlag("changed", remove))"]
                + [Signups.outdateDrafts(of: id, when: hasChanged)] + end + tell + ["SELECT \(hasChanged)"]
        )
        if rows[0].isEmpty { return nil }
        let isRemoved = try rows[rows.count - 1].only.decode(Bool.self)
        return AuthenticatorRemoval(hasChanged: isRemoved, needsMailedCode: isRemoved && hasAddress)
    }

    /// The identifiers with which a person signs in to the account, and the addresses that get a notice. The addresses
    /// include earlier ones to which a link was mailed that can still undo the change of the address.
    private func contacts(of id: ID<Account>) async throws(DatabaseError) -> (
        identifiers: [SignInIdentifier], addresses: [String], language: Language
    ) {
        let rows = try await database.read(
            """
            SELECT kind, value, reserved_until IS NULL, locale FROM identifiers JOIN accounts ON accounts.id = account
             WHERE account = \(id) ORDER BY kind, value
            """
        )
        var (identifiers, addresses, language) = ([SignInIdentifier](), [String](), flow.languages[0])
        for row in rows {
            let (kind, value, isUsed, locale) = try row.decode(String.self, String.self, Bool.self, String.self)
            if isUsed { identifiers.append(SignInIdentifier(value)) }
            if kind == EmailField.name { addresses.append(value) }
            language = flow.languages[locale] ?? language
        }
        return (identifiers, addresses, language)
    }
}
