/// The tokens that a server has signed a short time ago. A request gets one of them if it says exactly what the request
/// needs, because a signature is expensive.
///
/// Tokens are kept in two generations. When the new one is full or too old, it becomes the old one, which is dropped. So
/// there are at most twice ``capacity`` tokens, and after a time without requests the next ones drop what has expired.
struct RecentTokens: Sendable {
    /// What a token says, but for the times `iat` and `exp`, and the key that signs it.
    struct Content: Hashable, Sendable {
        let type: JWTType
        let kid: String
        /// The claims as JSON.
        let claims: [UInt8]
    }

    private struct Entry {
        let token: String
        let issuedAt: Int
    }

    /// The seconds after `iat` in which a token is given out again.
    static let maximumAge = 30

    /// The number of tokens of a generation.
    private let capacity: Int
    private var new: [Content: Entry] = [:]
    private var old: [Content: Entry] = [:]
    /// When the new generation began.
    private var start = 0

    init(capacity: Int = 4096) { self.capacity = capacity }

    var count: Int { new.count + old.count }

    /// The token with that content; nil if there is none, or it is too old. Times are in seconds since 1970.
    func token(for content: Content, at now: Int) -> String? {
        guard let entry = new[content] ?? old[content], Self.isRecent(entry.issuedAt, at: now) else { return nil }
        return entry.token
    }

    mutating func insert(_ token: String, for content: Content, issuedAt now: Int) {
        if new.count >= capacity || !Self.isRecent(start, at: now) { (old, new, start) = (new, [:], now) }
        new[content] = Entry(token: token, issuedAt: now)
    }

    /// False for a time in the future, too: the clock of the database may be set back.
    private static func isRecent(_ time: Int, at now: Int) -> Bool { (0..<maximumAge).contains(now - time) }
}
