internal import Foundation

/// The queue of outgoing mail. The transaction that causes a mail writes a row with its encrypted ``Content`` into the
/// table `outbox`; ``OutboxSender`` sends the mail afterwards.
package struct Outbox: Sendable {
    private let keys: KeyRing
    /// The languages of the service. A mail in any other language is sent in the first of them.
    private let languages: [Language]
    /// Yields an element after each call of ``wakeSender()``. Elements that were not read yet are merged into one.
    package let wakeups: AsyncStream<Void>
    private let wakeup: AsyncStream<Void>.Continuation

    /// - Parameter languages: the languages of the service, at least one.
    package init(keys: KeyRing, languages: [Language] = Language.builtIn) {
        (self.keys, self.languages) = (keys, languages)
        (wakeups, wakeup) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Makes the ``OutboxSender`` of this server look for due mail.
    package func wakeSender() {
        wakeup.yield()
    }

    /// The part of a mail that is stored encrypted: the recipient, the language, and the values for the template.
    struct Content {
        let to: String
        let language: Language
        /// A code, or the token in a link that continues a sign-up on another device or undoes a change of address,
        /// with its lifetime in minutes; nil for other mail. A notice or a withheld mail (``MailPace``) in place of a
        /// mail with a code has a code, too, but it is never shown.
        let code: (text: String, minutes: Int)?
        /// The ticket (``Ticket``) in the link of a mail with a code, with which the person gets another code. A
        /// notice or a withheld mail in place of such a mail may have a ticket, too. Nil for other mail.
        var ticket: String?
    }

    /// A new mail, encrypted for its row of `outbox`.
    struct Sealed {
        let id: UUID
        let sealed: [UInt8]
        /// A digest of the network (``Network/site``) whose request has caused the mail. Mail of different networks is
        /// delivered in turn, so that a network that causes much mail delays the mail of others only a little.
        let networkDigest: [UInt8]
        /// A digest of the recipient's address, or of the address that replaces it (`recipient` of `seal`). Mails with
        /// the same digest are delivered one after another.
        let recipientDigest: [UInt8]
    }

    /// Encrypts a new mail.
    ///
    /// - Parameters:
    ///   - now: the current time. The digest of a network differs from day to day (UTC), so digests of two days do not
    ///     reveal that they belong to one network.
    ///   - recipient: the address to digest in place of `content.to`; nil for `content.to`. A sign-in with a username
    ///     passes an address made of the username, so that the order of delivery does not reveal which address the
    ///     account has.
    func seal(
        _ content: Content,
        from network: Network,
        at now: Date,
        for recipient: EmailAddress? = nil
    ) -> Sealed {
        let id = ID<Outbox>()
        let dayNumber = Int(now.timeIntervalSince1970) / 86_400
        let json: JSON = [
            "to": .string(content.to), "language": .string(content.language.tag),
            "code": content.code.map { .string($0.text) } ?? .null,
            "minutes": content.code.map { .integer($0.minutes) } ?? .null,
            "ticket": content.ticket.map(JSON.string) ?? .null,
        ]
        return Sealed(
            id: id.rawValue,
            sealed: keys.seal(json.bytes, for: .mail(id)),
            networkDigest: keys.digest([Array("mail from".utf8), Array("\(dayNumber)".utf8), network.site.prefix]),
            recipientDigest: recipientDigests(of: recipient?.rawValue ?? content.to)[0]
        )
    }

    /// The digests that rows of mail to that address may have in the column `recipient`: one for each key of the key
    /// ring. The row of a mail with a sign-in code has another digest if the person has typed a username.
    func recipientDigests(of address: EmailAddress) -> [[UInt8]] { recipientDigests(of: address.rawValue) }

    private func recipientDigests(of address: String) -> [[UInt8]] {
        keys.digests(Array("mail to".utf8), Array(address.utf8))
    }

    /// Claims at most `count` due mails for one attempt each, in turn for the networks that caused them.
    func claim(_ count: Int, on database: Database) async throws(DatabaseError) -> [ClaimedMail] {
        let rows = try await database.transaction(
            """
            SELECT \(ClaimedMail.columns) FROM claim_mail(\(count), \(keys.heads))
            """
        )[0]
        var mails: [ClaimedMail] = []
        for row in rows { mails.append(try ClaimedMail(row)) }
        return mails
    }

    /// Whether a mail is due. Much cheaper than a claim, which may find that no server can deliver the mail now.
    func hasDueMail(on database: Database) async throws(DatabaseError) -> Bool {
        // Two searches, because new mail and postponed mail have different indexes.
        let rows = try await database.read(
            """
            SELECT EXISTS (SELECT FROM outbox WHERE state = 'waiting' AND attempts = 0 AND due_at <= now())
                OR EXISTS (SELECT FROM outbox WHERE state = 'waiting' AND attempts > 0 AND due_at <= now())
            """
        )
        return try rows.only.decode(Bool.self)
    }

    /// An SQL condition on a row of `outbox`: the key ring has the key that encrypted the row.
    var hasKey: SQL { keys.hasKey(of: "sealed") }

    /// Decrypts the content of a mail. Returns nil if the key that encrypted it is not in the key ring, if the data was
    /// altered, or if another version of the service wrote the content in another form.
    func open(_ sealed: [UInt8], of id: ID<Outbox>) -> Content? {
        guard let plaintext = try? keys.open(sealed, for: .mail(id)), let json = try? JSON.read(plaintext),
            let to = json["to"]?.string, let tag = json["language"]?.string
        else { return nil }
        var code: (text: String, minutes: Int)?
        if let text = json["code"]?.string, case .integer(let minutes)? = json["minutes"] { code = (text, minutes) }
        // If the service no longer has the language, the mail is sent in the first of its languages.
        let language = languages[tag] ?? languages[0]
        return Content(to: to, language: language, code: code, ticket: json["ticket"]?.string)
    }
}

/// A mail that this server has claimed for one attempt.
struct ClaimedMail: Sendable {
    let id: ID<Outbox>
    let template: String
    let sealed: [UInt8]
    /// The number of attempts, including the claimed one. After a retry by an operator it counts again from 0.
    let attempts: Int
    /// The end of the claim by the clock of the database, in microseconds since 1970. It identifies the claim.
    let claim: Int
    /// False if the mail comes too late, such as one whose code and ticket have expired.
    let isUseful: Bool
    let createdAt: Date
    /// The seconds since the mail was created, by the clock of the database.
    let age: Int
    /// The error of the last attempt, or the message that a server lacks the key of the mail; nil if there is neither.
    let lastError: String?

    /// The columns that ``init(_:)`` decodes.
    fileprivate static let columns: SQL = """
        id, template, sealed, attempts, \(claimEnd), now() < useless_after, created_at,
        extract(epoch FROM now() - created_at)::bigint, last_error
        """

    private static let claimEnd: SQL = "(extract(epoch FROM sending_until) * 1000000)::bigint"

    /// An SQL condition on a row of `outbox`: this claim is still the latest one, and its attempt has not ended. A
    /// retry by an operator does not end the claim.
    var isCurrent: SQL { "id = \(id) AND state = 'waiting' AND \(Self.claimEnd) = \(claim)" }

    fileprivate init(_ row: Row) throws(DatabaseError) {
        (id, template, sealed, attempts, claim, isUseful, createdAt, age, lastError) = try row.decode(
            ID<Outbox>.self,
            String.self,
            [UInt8].self,
            Int.self,
            Int.self,
            Bool.self,
            Date.self,
            Int.self,
            String?.self
        )
    }
}
