internal import Crypto
internal import Foundation

/// A refresh token: the id of its authorization, its number, and a keyed digest of both and of the nonce of the
/// authorization, as 72 characters of base64url. The service computes the token from its keys. So the service can give
/// the same token again to a repeated request, and a stranger who reads the database cannot compute a token.
struct RefreshToken: Sendable {
    let authorization: ID<Authorization>
    let number: Int
    private let digest: [UInt8]

    init(_ number: Int, of authorization: ID<Authorization>, nonce: [UInt8], _ keys: KeyRing) {
        (self.authorization, self.number) = (authorization, number)
        digest = Self.digests(number, authorization, nonce, keys)[0]
    }

    /// Returns nil for a text that cannot be a refresh token.
    init?(_ text: String) {
        guard let bytes = [UInt8](base64URL: text, count: 54) else { return nil }
        authorization = bytes.withUnsafeBytes { ID(UUID(uuid: $0.loadUnaligned(as: uuid_t.self))) }
        number = bytes[16..<22].reduce(0) { $0 << 8 | Int($1) }
        digest = Array(bytes[22...])
    }

    var text: String { (authorization.bytes + number.sqlBytes.suffix(6) + digest).base64URL }

    /// Whether the service has made this token, with any key of the key ring.
    func isGenuine(nonce: [UInt8], _ keys: KeyRing) -> Bool {
        // Both digests are hashed before the comparison, so the duration of the comparison does not reveal where they
        // differ.
        let presented = SHA256.hash(data: digest)
        return Self.digests(number, authorization, nonce, keys).contains { SHA256.hash(data: $0) == presented }
    }

    private static func digests(
        _ number: Int,
        _ authorization: ID<Authorization>,
        _ nonce: [UInt8],
        _ keys: KeyRing
    ) -> [[UInt8]] {
        keys.digests(Array("refresh token".utf8), authorization.bytes, nonce, number.sqlBytes)
    }

    static func newNonce() -> [UInt8] {
        return [UInt8].random(count: 16)
    }
}

/// The refresh tokens of one authorization, each named by its number. This type decides what happens to a token that an
/// application presents.
///
/// Tabs of an application refresh at the same time, and responses get lost, so a token can be presented again after its
/// exchange. Within 30 seconds of the exchange, the token gets the same successor again, unless 100 other exchanges
/// followed. Later, if the successor is still the newest token, the token gets a new successor, which replaces the
/// unused one. Otherwise the outcome is `reused`: the application or a thief has used the token before (RFC 9700
/// §4.14.2).
struct RefreshTokens: Hashable, Sendable {
    /// The exchange of a token for its successor.
    struct Exchange: Hashable, Sendable {
        let number, successor: Int
        /// Milliseconds since 1970, by the clock of the database.
        let time: Int
    }

    enum Outcome: Hashable, Sendable {
        /// The number of the successor that an earlier request with the same token has got.
        case repeated(Int)
        /// The number of a new successor, which is now the newest token.
        case exchanged(Int)
        /// The token was exchanged before, and cannot be exchanged again.
        case reused
    }

    /// The number of the newest token.
    private(set) var newest: Int
    /// The last exchange, and at most 99 others from the 30 seconds before it.
    private(set) var exchanges: [Exchange]

    /// The time within which a token gets the same successor again, in milliseconds.
    static let repeatable = 30_000
    private static let maximum = 100

    mutating func present(_ number: Int, at now: Int) -> Outcome {
        if number == newest { return exchange(number, at: now) }
        guard let made = exchanges.last(where: { $0.number == number }) else { return .reused }
        if now - made.time <= Self.repeatable { return .repeated(made.successor) }
        guard made.successor == newest else { return .reused }
        exchanges.removeLast()
        return exchange(number, at: now)
    }

    private mutating func exchange(_ number: Int, at now: Int) -> Outcome {
        newest += 1
        exchanges = exchanges.filter { now - $0.time <= Self.repeatable }.suffix(Self.maximum - 1)
        exchanges.append(Exchange(number: number, successor: newest, time: now))
        return .exchanged(newest)
    }
}

// MARK: - In the database

extension RefreshTokens {
    /// The column `refresh_tokens`: the number of the newest token, then `number>successor@time` for each exchange,
    /// separated by spaces.
    var text: String {
        exchanges.reduce("\(newest)") { "\($0) \($1.number)>\($1.successor)@\($1.time)" }
    }

    /// Reads ``text``.
    init?(_ text: String) {
        let words = text.split(separator: " ")
        guard let newest = words.first.flatMap({ Int($0) }) else { return nil }
        let numbers = words.dropFirst().map { $0.split { ">@".contains($0) }.compactMap { Int($0) } }
        guard numbers.allSatisfy({ $0.count == 3 }) else { return nil }
        self.init(newest: newest, exchanges: numbers.map { Exchange(number: $0[0], successor: $0[1], time: $0[2]) })
    }
}
