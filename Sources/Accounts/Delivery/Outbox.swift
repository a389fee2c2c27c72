internal import Foundation

/// The queue of outgoing mail. The transaction that causes a mail writes its encrypted row; the mail is sent
/// afterwards.
package struct Outbox: Sendable {
    private let keys: KeyRing
    private let languages: [Language]
    /// An element for new mail. Elements that were not read yet are merged into one.
    package let wakeups: AsyncStream<Void>
    private let wakeup: AsyncStream<Void>.Continuation

    /// - Parameter languages: those that the service has.
    package init(keys: KeyRing, languages: [Language] = Language.builtIn) {
        (self.keys, self.languages) = (keys, languages)
        (wakeups, wakeup) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Tells the sender that mail is waiting.
    package func wakeSender() {
        wakeup.yield()
    }

    /// The content of a mail in addition to its template.
    struct Content {
        let to: String
        let language: Language
        /// The code in the mail, such as its digits, and its lifetime.
        let code: (text: String, minutes: Int)?
        /// The text of the ticket in the mail.
        var ticket: String?
    }

    /// A new mail as its row stores it.
    struct Sealed {
        let id: UUID
        let sealed: [UInt8]
        /// A digest of the network that has caused the mail, by which networks take turns.
        let network: [UInt8]
        /// A digest of the address, whose mails are delivered one after another.
        let recipient: [UInt8]
    }

    /// - Parameter day: a time of today. The digests of a network on two days do not show that they belong together.
    func seal(_ content: Content, from network: Network, on day: Date) -> Sealed {
        let id = ID<Outbox>()
        let number = Int(day.timeIntervalSince1970) / 86_400
        let json: JSON = [
            "to": .string(content.to), "language": .string(content.language.tag),
            "code": content.code.map { .string($0.text) } ?? .null,
            "minutes": content.code.map { .integer($0.minutes) } ?? .null,
            "ticket": content.ticket.map(JSON.string) ?? .null,
        ]
        return Sealed(
            id: id.rawValue,
            sealed: keys.seal(json.bytes, for: .mail(id)),
            network: keys.digest([Array("mail from".utf8), Array("\(number)".utf8), network.site.prefix]),
            recipient: keys.digest([Array("mail to".utf8), Array(content.to.utf8)])
        )
    }

    /// What the rows of mail to that address may have in `recipient`, under each key of the ring.
    func recipients(_ address: EmailAddress) -> [[UInt8]] {
        keys.digests(Array("mail to".utf8), Array(address.rawValue.utf8))
    }

    /// Claims up to that many due mails for one attempt each, networks in turn.
    func claim(_ count: Int, on database: Database) async throws(DatabaseError) -> [ClaimedMail] {
        let rows = try await database.transaction(
            """
            SELECT id, template, sealed, attempts, now() < useless_after, created_at
              FROM claim_mail(\(count), \(keys.heads))
            """
        )[0]
        var mails: [ClaimedMail] = []
        for row in rows { mails.append(try ClaimedMail(row)) }
        return mails
    }

    /// Whether the ring has the key that encrypted a row of `outbox`, as SQL.
    var hasKey: SQL { keys.hasKey(of: "sealed") }

    /// Nil if the key that encrypted the row is not in the ring, or if another version wrote the row.
    func open(_ sealed: [UInt8], of id: ID<Outbox>) -> Content? {
        guard let plaintext = try? keys.open(sealed, for: .mail(id)), let json = try? JSON.read(plaintext),
            let to = json["to"]?.string, let tag = json["language"]?.string
        else { return nil }
        var code: (text: String, minutes: Int)?
        if let text = json["code"]?.string, case .integer(let minutes)? = json["minutes"] { code = (text, minutes) }
        // A mail in a language that the service does not have any more is better in another language than not sent.
        let language = languages[tag] ?? languages[0]
        return Content(to: to, language: language, code: code, ticket: json["ticket"]?.string)
    }
}

/// A mail that this server delivers now.
struct ClaimedMail: Sendable {
    let id: ID<Outbox>
    let template: String
    let sealed: [UInt8]
    /// With the attempt that the claim has begun.
    let attempts: Int
    /// Whether the code in the mail is still valid.
    let isUseful: Bool
    let createdAt: Date

    fileprivate init(_ row: Row) throws(DatabaseError) {
        (id, template, sealed, attempts, isUseful, createdAt) = try row.decode(
            ID<Outbox>.self,
            String.self,
            [UInt8].self,
            Int.self,
            Bool.self,
            Date.self
        )
    }
}
