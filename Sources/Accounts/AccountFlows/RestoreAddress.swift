internal import Foundation

extension Sessions {
    /// Gives the account its old address back. Ends all sessions and unfinished sign-ins, deletes the known devices,
    /// and outdates open recoveries and changes of the address (``Signups/outdateDrafts(of:when:)``). Deletes the
    /// password. Also deletes the authenticator app and the recovery codes if the app was added less than seven days
    /// before the change of the address, or after it. The person sets a new password with a recovery
    /// (``Flow/recovery``).
    ///
    /// Throws `refused` if the link was never mailed, was used or has expired. Also throws it if another link has
    /// restored an address that the account had before the one of this link.
    package func restoreAddress(_ token: AddressToken) async throws(SignInError) {
        var isRestored: Bool?
        while isRestored == nil {
            guard let left = try await leftAddress(of: token) else { throw Self.invalidLink }
            isRestored = try await restore(left, by: token)
        }
        guard isRestored == true else { throw Self.invalidLink }
        signups.outbox.wakeSender()
    }

    /// Returns whether the address was restored. Returns nil, and changes nothing, if the account has another address
    /// than ``Left/present`` by now. Then the mail to the withdrawn address would go to the wrong one.
    private func restore(_ left: Left, by token: AddressToken) async throws(SignInError) -> Bool? {
        let (account, isRestored, isUnchanged) = (left.account, Signups.flag("changed"), Signups.flag("unchanged"))
        let hasPresent: SQL = """
            EXISTS (SELECT FROM accounts WHERE id = \(account) AND email IS NOT DISTINCT FROM \(left.present))
            """
        let check: SQL = "SELECT \(Signups.setFlag("unchanged", hasPresent))"
        let restore: SQL = """
            SELECT \(Signups.setFlag("changed", "restore_address(account, \(left.address.rawValue), changed_at)"))
              FROM address_changes WHERE \(Self.isValid(token)) AND \(isUnchanged)
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
        let outdate = Signups.outdateDrafts(of: account, when: isRestored)
        let flags: SQL = "SELECT \(isUnchanged), \(isRestored)"
        return try await converting(to: SignInError.database) { () throws(DatabaseError) in
            let rows = try await database.transaction(
                [Self.lockForChange(account), check, restore, forget, outdate] + ended + mails + [flags]
            )
            let (unchanged, restored) = try rows[rows.count - 1].only.decode(Bool.self, Bool.self)
            return unchanged ? restored : nil
        }
    }

    private static let invalidLink = SignInError.refused([Refusal("token", .codeExpired)])

    private static func isValid(_ token: AddressToken) -> SQL { "\(has(token)) AND now() < expires_at" }

    private struct Left {
        let account: ID<Account>
        let address: EmailAddress
        /// The address that the account had when it was read.
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
