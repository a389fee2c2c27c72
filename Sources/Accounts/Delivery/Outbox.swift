internal import Foundation

/// Where mail waits for its delivery. A row is written by the transaction that caused it, sealed, and sent afterwards.
package struct Outbox: Sendable {
    private let keys: KeyRing
    /// One element after new mail; elements that were not read yet are merged into one.
    package let wakeups: AsyncStream<Void>
    private let wakeup: AsyncStream<Void>.Continuation

    package init(keys: KeyRing) {
        self.keys = keys
        (wakeups, wakeup) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Tells the sender that something waits.
    package func wakeSender() {
        wakeup.yield()
    }

    /// What a mail needs beyond its template.
    struct Content {
        let to: String
        let language: Language
        /// What the mail is about, such as the digits of a code, and how long it is good.
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

    /// Nil where the row was sealed with a key that is not in the ring.
    func open(_ sealed: [UInt8], of id: ID<Outbox>) -> Content? {
        guard let plaintext = try? keys.open(sealed, for: id.bytes), let json = try? JSON.read(plaintext),
            let to = json["to"]?.string, let language = json["language"]?.string.flatMap(Language.init(rawValue:))
        else { return nil }
        var code: (text: String, minutes: Int)?
        if let text = json["code"]?.string, case .integer(let minutes)? = json["minutes"] { code = (text, minutes) }
        return Content(to: to, language: language, code: code)
    }
}
