internal import Crypto
internal import Foundation

/// The secret in the link of a mail with a code. Its holder exchanges it once for another code to the same address,
/// outside the limits of the address. It proves nothing: the new code goes to the address, and is still required.
///
/// It is an id followed by 136 random bits, as 44 characters of base64url. The id finds the row; the database stores
/// only the SHA-256 of the whole.
package struct Ticket: Sendable {
    let id: ID<Ticket>
    let digest: [UInt8]
    private let bytes: [UInt8]

    /// The time in which it can be exchanged: as long as the limits of an address last.
    package static let lifetime = Duration.seconds(86_400)

    package init() {
        var random = SystemRandomNumberGenerator()
        self.init(bytes: ID<Ticket>().bytes + (0..<17).map { _ in UInt8.random(in: 0...255, using: &random) })
    }

    /// Returns nil if the text cannot be a ticket of this service.
    package init?(_ text: String) {
        guard let bytes = [UInt8](base64URL: text, count: 33) else { return nil }
        self.init(bytes: bytes)
    }

    private init(bytes: [UInt8]) {
        self.bytes = bytes
        digest = Array(SHA256.hash(data: bytes))
        id = bytes.withUnsafeBytes { ID(UUID(uuid: $0.loadUnaligned(as: uuid_t.self))) }
    }

    /// The characters in the link.
    package var text: String { bytes.base64URL }
}

extension Signups {
    /// Stores the ticket of the mail that the previous statement has inserted.
    ///
    /// The notice to the owner of an account shows no ticket, but a row is inserted for it too, so that every address
    /// takes the same time. The row does not depend on the draft or the mail: a stranger who causes a mail and cancels
    /// the sign-up must not take the ticket from the reader of the mail.
    func store(_ ticket: Ticket, of field: FieldName, for address: EmailAddress, when condition: SQL) -> SQL {
        """
        INSERT INTO tickets (id, digest, field, address_digest, sealed, expires_at)
        SELECT \(ticket.id), \(ticket.digest), \(flow.purpose.prefix + field.rawValue), \(addressDigests(address)[0]),
               \(keys.seal(Array(address.rawValue.utf8), for: .ticket(ticket.id))),
               now() + make_interval(secs => \(Ticket.lifetime.seconds))
         WHERE \(condition)
        """
    }

    /// Deletes the tickets in the mails to an address.
    func eraseTickets(of address: EmailAddress, when condition: SQL = "true") -> SQL {
        "DELETE FROM tickets WHERE address_digest = ANY (\(ByteStrings(addressDigests(address)))) AND \(condition)"
    }
}
