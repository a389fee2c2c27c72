package import Foundation

/// A time-ordered id (UUID version 7, RFC 9562 §5.7). `Owner` is the type of what the id identifies, so an `ID<Draft>`
/// cannot be used as an `ID<Account>`.
package struct ID<Owner>: Hashable, Sendable, CustomStringConvertible {
    package let rawValue: UUID

    package init(_ rawValue: UUID) {
        self.rawValue = rawValue
    }

    /// A new id: 48 bits of milliseconds since 1970, then 74 random bits.
    package init(at now: Date = Date()) {
        var random = SystemRandomNumberGenerator()
        self.init(at: now, .random(in: 0...0xFFF, using: &random), .random(in: 0...(.max >> 2), using: &random))
    }

    /// An id with 74 bits of a digest in place of random bits: the same for the same time and digest.
    init(at time: Date, from digest: some Sequence<UInt8>) {
        let bits = digest.prefix(10).reduce((UInt64(0), UInt64(0))) { ($0.0 << 8 | $0.1 >> 56, $0.1 << 8 | UInt64($1)) }
        self.init(at: time, bits.0 & 0xFFF, bits.1 >> 2)
    }

    private init(at time: Date, _ first: UInt64, _ second: UInt64) {
        let milliseconds = UInt64(time.timeIntervalSince1970 * 1000)
        let (high, low) = (milliseconds << 16 | 0x7000 | first, 0x8000_0000_0000_0000 | second)
        rawValue = withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) {
            UUID(uuid: $0.loadUnaligned(as: uuid_t.self))
        }
    }

    package init?(_ text: String) {
        guard let id = UUID(uuidString: text) else { return nil }
        rawValue = id
    }

    /// The time in the id: the time that was passed to the initializer, or otherwise the creation time, by the clock of
    /// the process that made the id.
    package var madeAt: Date {
        let milliseconds = bytes.prefix(6).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return Date(timeIntervalSince1970: Double(milliseconds) / 1000)
    }

    /// The canonical text, in lower case.
    package var description: String { rawValue.text }

    package var bytes: [UInt8] { rawValue.sqlBytes }
}

extension ID: SQLEncodable, SQLDecodable {
    package static var sqlType: SQLType { .uuid }
    package var sqlBytes: [UInt8] { bytes }

    package static func reading(_ bytes: Slice<UnsafeRawBufferPointer>?) -> Self? {
        UUID.reading(bytes).map(Self.init)
    }
}

extension UUID {
    /// The canonical text (RFC 9562 §4), in lower case. Foundation's `uuidString` is in upper case, and is slow,
    /// because Foundation makes it with `snprintf`.
    package var text: String {
        let digits: StaticString = "0123456789abcdef"
        return withUnsafeBytes(of: uuid) { bytes in
            String(unsafeUninitializedCapacity: 36) { text in
                var count = 0
                for (index, byte) in bytes.enumerated() {
                    if [4, 6, 8, 10].contains(index) {
                        text[count] = UInt8(ascii: "-")
                        count += 1
                    }
                    text[count] = digits.utf8Start[Int(byte >> 4)]
                    text[count + 1] = digits.utf8Start[Int(byte & 0xF)]
                    count += 2
                }
                return count
            }
        }
    }
}
