/// Where an encrypted value belongs, such as a row of a table. A value that a v2 key (``KeyRing``) has encrypted can be
/// decrypted only for the same place. A value that a v1 key has encrypted is bound only to ``row``.
package struct SealedPlace: Sendable {
    /// The name of a table. For a value in a URL or a form, a name that no table has.
    let table: String
    /// The primary key of the row, or another id of the value; a constant if the value has no id.
    let row: [UInt8]
    /// The other columns of the row that cannot be changed without encrypting the value again.
    let columns: [[UInt8]]

    package init(table: String, row: [UInt8], columns: [[UInt8]] = []) {
        (self.table, self.row, self.columns) = (table, row, columns)
    }

    /// The place of a draft's values at one revision. If an attacker puts another token hash, or the values of another
    /// revision, into the row, the values cannot be decrypted with a v2 key.
    package static func draft(_ id: ID<Draft>, tokenHash: [UInt8], revision: Int) -> SealedPlace {
        SealedPlace(table: "drafts", row: id.bytes, columns: [tokenHash, revision.sqlBytes])
    }

    package static func mail(_ id: ID<Outbox>) -> SealedPlace { SealedPlace(table: "outbox", row: id.bytes) }
    static func ticket(_ id: ID<Ticket>) -> SealedPlace { SealedPlace(table: "tickets", row: id.bytes) }
    package static func photo(_ id: ID<Photo>) -> SealedPlace { SealedPlace(table: "draft_photos", row: id.bytes) }

    package static func authenticator(of account: ID<Account>) -> SealedPlace {
        SealedPlace(table: "authenticators", row: account.bytes)
    }

    /// The place as bytes. A length precedes each part, so that different places have different bytes.
    var bytes: [UInt8] {
        ([Array(table.utf8), row] + columns).reduce(into: []) { bytes, part in
            bytes += withUnsafeBytes(of: UInt32(part.count).bigEndian, Array.init) + part
        }
    }
}
