package import Foundation

/// The object id of a PostgreSQL type, from `pg_type.dat`.
package enum SQLType: UInt32, Sendable {
    case bool = 16
    case bytea = 17
    case int8 = 20
    case text = 25
    case byteaArray = 1001
    case uuid = 2950
}

/// A value that can be bound, in the binary format of its type.
package protocol SQLEncodable: Sendable {
    static var sqlType: SQLType { get }
    var sqlBytes: [UInt8] { get }
}

/// A value that can be read from a column, in the binary format of its type.
package protocol SQLDecodable: Sendable {
    /// Returns nil if the bytes are not a value of this type. `bytes` is nil for NULL.
    static func reading(_ bytes: Slice<UnsafeRawBufferPointer>?) -> Self?
}

extension Bool: SQLEncodable, SQLDecodable {
    package static var sqlType: SQLType { .bool }
    package var sqlBytes: [UInt8] { [self ? 1 : 0] }

    package static func reading(_ bytes: Slice<UnsafeRawBufferPointer>?) -> Self? {
        guard let bytes, bytes.count == 1 else { return nil }
        return bytes.first != 0
    }
}

/// Bound as `int8`; read from `int2`, `int4` and `int8`.
extension Int: SQLEncodable, SQLDecodable {
    package static var sqlType: SQLType { .int8 }
    package var sqlBytes: [UInt8] { withUnsafeBytes(of: bigEndian) { Array($0) } }

    package static func reading(_ bytes: Slice<UnsafeRawBufferPointer>?) -> Self? {
        guard let bytes, [2, 4, 8].contains(bytes.count) else { return nil }
        let isNegative = bytes.first! & 0x80 != 0
        return bytes.reduce(isNegative ? -1 : 0) { $0 << 8 | Int($1) }
    }
}

extension String: SQLEncodable, SQLDecodable {
    package static var sqlType: SQLType { .text }
    package var sqlBytes: [UInt8] { Array(utf8) }

    package static func reading(_ bytes: Slice<UnsafeRawBufferPointer>?) -> Self? {
        guard let bytes else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }
}

extension [UInt8]: SQLEncodable, SQLDecodable {
    package static var sqlType: SQLType { .bytea }
    package var sqlBytes: [UInt8] { self }

    package static func reading(_ bytes: Slice<UnsafeRawBufferPointer>?) -> Self? {
        bytes.map { Array($0) }
    }
}

extension UUID: SQLEncodable, SQLDecodable {
    package static var sqlType: SQLType { .uuid }
    package var sqlBytes: [UInt8] { withUnsafeBytes(of: uuid) { Array($0) } }

    package static func reading(_ bytes: Slice<UnsafeRawBufferPointer>?) -> Self? {
        guard let bytes, bytes.count == 16 else { return nil }
        return UUID(uuid: bytes.rebased.loadUnaligned(as: uuid_t.self))
    }
}

/// Read from `timestamptz`: microseconds since 2000-01-01 UTC.
extension Date: SQLDecodable {
    package static func reading(_ bytes: Slice<UnsafeRawBufferPointer>?) -> Self? {
        guard let bytes, bytes.count == 8, let microseconds = Int.reading(bytes) else { return nil }
        return Date(timeIntervalSince1970: 946_684_800 + Double(microseconds) / 1_000_000)
    }
}

extension Optional: SQLDecodable where Wrapped: SQLDecodable {
    package static func reading(_ bytes: Slice<UnsafeRawBufferPointer>?) -> Self? {
        guard let bytes else { return .some(nil) }
        return Wrapped.reading(bytes).map { .some($0) }
    }
}

/// A list that is bound as `bytea[]`, for example for `= ANY(…)`.
package struct ByteStrings: SQLEncodable {
    package let values: [[UInt8]]

    package init(_ values: [[UInt8]]) {
        self.values = values
    }

    package static var sqlType: SQLType { .byteaArray }

    /// The binary format of an array: the number of dimensions, whether there are NULLs, the type of the elements,
    /// their number, and the lower bound, and then each element after its length.
    package var sqlBytes: [UInt8] {
        func word(_ value: Int) -> [UInt8] { withUnsafeBytes(of: Int32(value).bigEndian) { Array($0) } }
        let header = [1, 0, Int(SQLType.bytea.rawValue), values.count, 1].flatMap(word)
        return values.reduce(into: header) { $0 += word($1.count) + $1 }
    }
}

extension Slice<UnsafeRawBufferPointer> {
    var rebased: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: self) }
}
