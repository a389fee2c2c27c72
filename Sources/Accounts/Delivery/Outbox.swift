internal import Foundation

/// The queue of outgoing mail. The transaction that causes a mail writes its encrypted row; the mail is sent
/// afterwards.
package struct Outbox: Sendable {
    private let keys: KeyRing
    /// An element for new mail. Elements that were not read yet are merged into one.
    package let wakeups: AsyncStream<Void>
    private let wakeup: AsyncStream<Void>.Continuation

    package init(keys: KeyRing) {
        self.keys = keys
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
    }

    func seal(_ content: Content) -> (id: UUID, sealed: [UInt8]) {
        let id = ID<Outbox>()
        let json: JSON = [
            "to": .string(content.to), "language": .string(content.language.rawValue),
            "code": content.code.map { .string($0.text) } ?? .null,
            "minutes": content.code.map { .integer($0.minutes) } ?? .null,
        ]
        return (id.rawValue, keys.seal(json.bytes, for: id.bytes))
    }

    /// Whether the ring has the key that encrypted a row of `outbox`, as SQL.
    var hasKey: SQL { keys.hasKey(of: "sealed") }

    /// Nil if the key that encrypted the row is not in the ring, or if another version wrote the row.
    func open(_ sealed: [UInt8], of id: ID<Outbox>) -> Content? {
        guard let plaintext = try? keys.open(sealed, for: id.bytes), let json = try? JSON.read(plaintext),
            let to = json["to"]?.string, let language = json["language"]?.string.flatMap(Language.init(rawValue:))
        else { return nil }
        var code: (text: String, minutes: Int)?
        if let text = json["code"]?.string, case .integer(let minutes)? = json["minutes"] { code = (text, minutes) }
        return Content(to: to, language: language, code: code)
    }
}
