/// The new recovery codes of an account, encrypted for a cookie, until the person confirms on a page that they are
/// saved. The database has only their digests.
extension Sessions {
    /// Encrypts the codes. Only requests of the same session can read them.
    package func seal(recoveryCodes codes: [String], for session: AccountSession) -> String {
        keys.seal(Array(codes.joined(separator: " ").utf8), for: .unsavedCodes(of: session.id)).base64URL
    }

    /// Reads ``seal(recoveryCodes:for:)``, and returns the codes that the account still has. Returns none for any other
    /// text, and for the codes of another session. Throws `confirmationRequired` if the session is not confirmed.
    package func unsavedCodes(
        _ sealed: String,
        of session: AccountSession
    ) async throws(SignInError) -> [RecoveryCode] {
        try requireConfirmation(of: session)
        guard let bytes = [UInt8].fromBase64URL(sealed.utf8),
            let plaintext = try? keys.open(bytes, for: .unsavedCodes(of: session.id))
        else { return [] }
        let texts = String(decoding: plaintext, as: UTF8.self).split(separator: " ").map(String.init)
        let codes = texts.compactMap { RecoveryCode($0) }
        return try await converting(to: SignInError.database) { () throws(DatabaseError) in
            let rows = try await database.read(
                "SELECT digest FROM recovery_codes WHERE account = \(session.account.id)"
            )
            var digests: Set<[UInt8]> = []
            for row in rows { digests.insert(try row.decode([UInt8].self)) }
            return codes.filter { digests.contains($0.digest) }
        }
    }
}

extension SealedPlace {
    fileprivate static func unsavedCodes(of session: ID<AccountSession>) -> SealedPlace {
        SealedPlace(table: "unsaved_recovery_codes", row: session.bytes)
    }
}
