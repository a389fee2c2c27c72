package import Foundation

/// The values, factors, consents, sessions, devices and photos of an account, and the earlier addresses that the
/// service still stores. Contains no secrets, such as the hash of the password.
package struct AccountExport: Sendable {
    package let account: Account
    package let overview: AccountOverview
    package let sessions: [ListedSession]
    package let flow: String
    package let language: String
    package let emailProvedAt: Date?
    /// For each known device (``DeviceToken``), the last time when a sign-in or another act made it known.
    package let devices: [Date]
    package let leftAddresses: [LeftAddressEntry]
    package let photos: [PhotoEntry]
    package let pastConsents: [PastConsent]
    /// The time of the database.
    package let now: Date
}

/// An earlier address of the account. The owner of this address can undo the change until ``restorableUntil``.
package struct LeftAddressEntry: Sendable {
    /// Nil if no key of the key ring decrypts the address.
    package let address: String?
    package let leftAt: Date
    package let restorableUntil: Date
}

/// A photo of the account.
package struct PhotoEntry: Sendable {
    package let field: String
    package let type: String
    package let bytes: Int
    /// The bytes of the image; nil if the caller wanted no images.
    package let image: [UInt8]?
}

/// A recorded acceptance or rejection of a document, which a later one has replaced.
package struct PastConsent: Sendable {
    package let consent: GivenConsent
    package let endedAt: Date
}

extension Sessions {
    /// Returns the export of the session's account. Throws `confirmationRequired` unless the person has signed in or
    /// confirmed the session in the last ten minutes.
    package func export(for session: AccountSession) async throws(SignInError) -> AccountExport {
        try requireConfirmation(of: session)
        let id = session.account.id
        let export = try await converting(to: SignInError.database) { () throws(DatabaseError) in
            try await signups.export(id, hasPassword: Self.hasPassword(id))
        }
        guard let export else { throw .noSession }
        return export
    }

    /// Returns the media type and the bytes of the account's photo in that field; nil if there is none.
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

extension Signups {
    /// Reads the export of an account in one transaction. Returns nil if the account does not exist.
    ///
    /// - Parameters:
    ///   - hasPassword: an SQL expression that is true if the account has a password, as in
    ///     ``AccountOverview/queries(of:hasPassword:)``.
    ///   - withImages: whether to read the images of the photos, too.
    ///   - first: statements of the same transaction that run before anything is read.
    func export(
        _ id: ID<Account>,
        hasPassword: SQL,
        withImages: Bool = false,
        after first: [SQL] = []
    ) async throws(DatabaseError) -> AccountExport? {
        let rows = try await database.transaction(
            first + [
                "SELECT \(Account.columns), flow, locale, email_proved_at, now() FROM accounts WHERE id = \(id)",
                ListedSession.query(of: id),
                "SELECT last_used_at FROM devices WHERE account = \(id) ORDER BY 1",
                "SELECT id, sealed, changed_at, expires_at FROM address_changes WHERE account = \(id) ORDER BY 3",
                """
                SELECT field, type, length(image), CASE WHEN \(withImages) THEN image END
                  FROM photos WHERE account = \(id) ORDER BY field
                """,
                """
                SELECT field, accepted, version, given_at, ended_at
                  FROM past_consents WHERE account = \(id) ORDER BY ended_at, field
                """,
            ] + AccountOverview.queries(of: id, hasPassword: hasPassword)
        ).dropFirst(first.count)
        return try AccountExport(id, Array(rows), keys)
    }
}

extension AccountExport {
    /// Returns nil if the account does not exist.
    ///
    /// - Parameter rows: the results of the statements about the account, its sessions, devices, left addresses, photos
    ///   and past consents, and the two results of ``AccountOverview/queries(of:hasPassword:)``.
    fileprivate init?(_ id: ID<Account>, _ rows: [Rows], _ keys: KeyRing) throws(DatabaseError) {
        guard let row = rows[0].first else { return nil }
        var columns = row.columns
        account = try Account(id, &columns)
        flow = try columns.next()
        language = try columns.next()
        emailProvedAt = try columns.next()
        now = try columns.next()
        sessions = try ListedSession.all(in: rows[1], keys)
        var devices: [Date] = []
        for row in rows[2] { devices.append(try row.decode(Date.self)) }
        self.devices = devices
        var left: [LeftAddressEntry] = []
        for row in rows[3] { left.append(try LeftAddressEntry(row, keys)) }
        leftAddresses = left
        var photos: [PhotoEntry] = []
        for row in rows[4] { photos.append(try PhotoEntry(row)) }
        self.photos = photos
        var past: [PastConsent] = []
        for row in rows[5] { past.append(try PastConsent(row)) }
        pastConsents = past
        overview = try AccountOverview(rows[6], rows[7])
    }
}

extension LeftAddressEntry {
    fileprivate init(_ row: Row, _ keys: KeyRing) throws(DatabaseError) {
        let (id, sealed, leftAt, until) = try row.decode(ID<LeftAddress>.self, [UInt8].self, Date.self, Date.self)
        address = (try? keys.open(sealed, for: .leftAddress(id))).map { String(decoding: $0, as: UTF8.self) }
        (self.leftAt, restorableUntil) = (leftAt, until)
    }
}

extension PhotoEntry {
    fileprivate init(_ row: Row) throws(DatabaseError) {
        (field, type, bytes, image) = try row.decode(String.self, String.self, Int.self, [UInt8]?.self)
    }
}

extension PastConsent {
    fileprivate init(_ row: Row) throws(DatabaseError) {
        var columns = row.columns
        consent = try GivenConsent(&columns)
        endedAt = try columns.next()
    }
}
