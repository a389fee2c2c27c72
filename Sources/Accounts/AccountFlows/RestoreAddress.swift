internal import Foundation

extension Sessions {
    /// Gives the account its old address back. Ends all sessions, and deletes the password. Also deletes the
    /// authenticator app and the recovery codes if the app was added less than seven days before the change of the
    /// address, or after it. The person sets a new password with a recovery (``Flow/recovery``).
    ///
    /// Throws `refused` if the link was never mailed, was used or has expired. Also throws it if another link has
    /// restored an address that the account had before the one of this link.
    package func restoreAddress(_ token: AddressToken) async throws(SignInError) {
        guard let left = try await leftAddress(of: token) else { throw Self.invalidLink }
        let (account, isRestored) = (left.account, Signups.flag("changed"))
        let restore: SQL = """
            SELECT \(Signups.setFlag("changed", "restore_address(account, \(left.address.rawValue), changed_at)"))
              FROM address_changes WHERE \(Self.isValid(token))
            """
        // Deletes the links of this change and of later changes, so that the owner of a later address cannot restore
        // that address.
        let forget: SQL = """
            DELETE FROM address_changes
             WHERE account = \(account) AND \(isRestored)
               AND changed_at >= (SELECT changed_at FROM address_changes WHERE id = \(token.id))
            """
        let ended = ["sessions", "sign_ins", "devices"].map { table -> SQL in
            "DELETE FROM \(SQL(stringLiteral: table)) WHERE account = \(account) AND \(isRestored)"
        }
        var mails = [
            signups.mail(
                about: .addressRestored,
                on: account,
                to: left.address.rawValue,
                in: left.language,
                when: isRestored
            )
        ]
        if let present = left.present, present != left.address.rawValue {
            mails.append(
                signups.mail(about: .addressWithdrawn, on: account, to: present, in: left.language, when: isRestored)
            )
        }
        let restored = try await converting(to: SignInError.database) { () throws(DatabaseError) in
            let rows = try await database.transaction(
                [Self.lockForChange(account), restore, forget, Signups.outdateDrafts(of: account, when: isRestored)]
                    + ended + mails + ["SELECT \(isRestored)"]
            )
            return try rows[rows.count - 1].only.decode(Bool.self)
        }
        guard restored else { throw Self.invalidLink }
        signups.outbox.wakeSender()
    }

    private static let invalidLink = SignInError.refused([Refusal("token", .codeExpired)])

    private static func isValid(_ token: AddressToken) -> SQL { "\(has(token)) AND now() < expires_at" }

    private struct Left {
        let account: ID<Account>
        let address: EmailAddress
        /// The address that the account has now.
        let present: String?
        let language: Language
    }

    private func leftAddress(of token: AddressToken) async throws(SignInError) -> Left? {
        let row = try await converting(to: SignInError.database) { () throws(DatabaseError) in
            try await database.read(
                """
                SELECT account, sealed, email, locale FROM address_changes JOIN accounts ON accounts.id = account
                 WHERE address_changes.id = \(token.id) AND token_hash = \(token.hash) AND now() < expires_at
                """
            ).first?.decode(ID<Account>.self, [UInt8].self, String?.self, String.self)
        }
        guard let (account, sealed, present, locale) = row else { return nil }
        guard let plaintext = try? keys.open(sealed, for: .leftAddress(token.id)),
            let address = EmailAddress(String(decoding: plaintext, as: UTF8.self))
        else { throw .unreadable(.leftAddress(of: account)) }
        let language = flow.languages[locale] ?? flow.languages[0]
        return Left(account: account, address: address, present: present, language: language)
    }
}
