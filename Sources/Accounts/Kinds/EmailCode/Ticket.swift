internal import Crypto
internal import Foundation

/// A secret in the link of a mail with a code. The reader of the mail can exchange it once for another code to the same
/// address, outside the rate limits of the address that strangers can use up. A ticket proves nothing: the new code is
/// mailed to the address, and the person must enter it.
///
/// A ticket is an id followed by 136 random bits, as 44 characters of base64url. The service finds the row of a ticket
/// by its id. The row does not contain the random bits, but only the SHA-256 of the whole ticket.
package struct Ticket: Sendable {
    let id: ID<Ticket>
    let digest: [UInt8]
    private let bytes: [UInt8]

    /// The time in which a ticket can be exchanged: as long as the longest default period of the limits of an address.
    package static let lifetime = Duration.seconds(86_400)

    package init() {
        self.init(bytes: ID<Ticket>().bytes + [UInt8].random(count: 17))
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

    /// The ticket as the link contains it.
    package var text: String { bytes.base64URL }
}

extension Signups {
    /// A statement that stores the ticket of a mail with a code.
    ///
    /// A notice to the owner of an account contains no ticket, but a row is inserted for such a mail, too, so that
    /// every address takes the same time. The row is independent of the draft: a stranger who causes a mail and then
    /// cancels the sign-up must not make the ticket in the mail invalid.
    func store(_ ticket: Ticket, of field: FieldName, for address: EmailAddress, when condition: SQL) -> SQL {
        """
        INSERT INTO tickets (id, digest, field, address_digest, sealed, expires_at)
        SELECT \(ticket.id), \(ticket.digest), \(flow.purpose.prefix + field.rawValue), \(addressDigests(address)[0]),
               \(keys.seal(Array(address.rawValue.utf8), for: .ticket(ticket.id))),
               now() + make_interval(secs => \(Ticket.lifetime.seconds))
         WHERE \(condition)
        """
    }

    /// A statement that deletes all tickets for an address if the condition is true.
    func eraseTickets(of address: EmailAddress, when condition: SQL = "true") -> SQL {
        "DELETE FROM tickets WHERE address_digest = ANY (\(ByteStrings(addressDigests(address)))) AND \(condition)"
    }
}
