package import Foundation

/// Everything that the service holds about an account, except what proves who the person is.
package struct AccountExport: Sendable {
    package let overview: AccountOverview
    package let sessions: [ListedSession]
    package let flow: String
    package let language: String
    package let emailProvedAt: Date?
    /// When each known device was used last.
    package let devices: [Date]
    package let leftAddresses: [LeftAddressEntry]
    package let photos: [PhotoEntry]
    /// The time of the database.
    package let now: Date
}

/// An address that the account has left, and whose owner can restore it.
package struct LeftAddressEntry: Sendable {
    /// Nil if the server lacks the key.
    package let address: String?
    package let leftAt: Date
    package let restorableUntil: Date
}

/// A photo of the account.
package struct PhotoEntry: Sendable {
    package let field: String
    package let type: String
    package let bytes: Int
}

extension Sessions {
    /// Throws `confirmationRequired` unless the session was confirmed in the last ten minutes.
    package func export(for session: AccountSession) async throws(SignInError) -> AccountExport {
        try requireConfirmation(of: session)
        let id = session.account.id
        let overview = try await overview(of: id)
        let sessions = try await list(of: id)
        return try await converting(to: SignInError.database) { () throws(DatabaseError) in
            let rows = try await database.transaction(
                "SELECT flow, locale, email_proved_at, now() FROM accounts WHERE id = \(id)",
                "SELECT last_used_at FROM devices WHERE account = \(id) ORDER BY 1",
                "SELECT id, sealed, changed_at, expires_at FROM address_changes WHERE account = \(id) ORDER BY 3",
                "SELECT field, type, length(image) FROM photos WHERE account = \(id) ORDER BY field"
            )
            let (flow, language, emailProvedAt, now) = try rows[0].only.decode(
                String.self,
                String.self,
                Date?.self,
                Date.self
            )
            var devices: [Date] = []
            for row in rows[1] { devices.append(try row.decode(Date.self)) }
            var left: [LeftAddressEntry] = []
            for row in rows[2] { left.append(try leftAddress(row)) }
            var photos: [PhotoEntry] = []
            for row in rows[3] {
                let (field, type, bytes) = try row.decode(String.self, String.self, Int.self)
                photos.append(PhotoEntry(field: field, type: type, bytes: bytes))
            }
            return AccountExport(
                overview: overview,
                sessions: sessions,
                flow: flow,
                language: language,
                emailProvedAt: emailProvedAt,
                devices: devices,
                leftAddresses: left,
                photos: photos,
                now: now
            )
        }
    }

    private func leftAddress(_ row: Row) throws(DatabaseError) -> LeftAddressEntry {
        let (id, sealed, leftAt, until) = try row.decode(ID<LeftAddress>.self, [UInt8].self, Date.self, Date.self)
        let address = (try? keys.open(sealed, for: .leftAddress(id))).map { String(decoding: $0, as: UTF8.self) }
        return LeftAddressEntry(address: address, leftAt: leftAt, restorableUntil: until)
    }

    /// The photo in that field of the account; nil if it has none.
    package func photo(
        in field: String,
        of session: AccountSession
    ) async throws(SignInError) -> (type: String, image: [UInt8])? {
        try await converting(to: SignInError.database) { () throws(DatabaseError) in
            try await database.read(
                "SELECT type, image FROM photos WHERE account = \(session.account.id) AND field = \(field)"
            ).first?.decode(String.self, [UInt8].self)
        }
    }
}
