/// Tokens that ``SigningKeys/signOrReuse(_:type:by:at:for:)`` has signed. For ``maximumAge`` seconds, a request that
/// needs a token with the same content gets the stored token, because signing is expensive.
///
/// The tokens are in two generations, new and old. If the new generation is full or at least ``maximumAge`` seconds old
/// when a token is inserted, it becomes the old generation, and the previous old one is dropped. So at most twice
/// ``capacity`` tokens are stored. A token may stay stored for longer than ``maximumAge``, but is then not given out
/// any more.
struct RecentTokens: Sendable {
    /// The type of a token, the key that signs it, and its claims except the times `iat` and `exp`.
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

    /// The time after `iat` within which a token is given out again, in seconds.
    static let maximumAge = 30

    /// The maximum number of tokens of a generation.
    private let capacity: Int
    private var new: [Content: Entry] = [:]
    private var old: [Content: Entry] = [:]
    /// When the new generation began, in seconds since 1970.
    private var start = 0

    init(capacity: Int = 4096) { self.capacity = capacity }

    var count: Int { new.count + old.count }

    /// Returns the token with that content; nil if there is none, or it is too old. Times are in seconds since 1970.
    func token(for content: Content, at now: Int) -> String? {
        guard let entry = new[content] ?? old[content], Self.isRecent(entry.issuedAt, at: now) else { return nil }
        return entry.token
    }

    mutating func insert(_ token: String, for content: Content, issuedAt now: Int) {
        if new.count >= capacity || !Self.isRecent(start, at: now) { (old, new, start) = (new, [:], now) }
        new[content] = Entry(token: token, issuedAt: now)
    }

    /// Whether the time is less than ``maximumAge`` seconds ago. It is false for a time in the future, because somebody
    /// may set back the clock of the database.
    private static func isRecent(_ time: Int, at now: Int) -> Bool { (0..<maximumAge).contains(now - time) }
}
