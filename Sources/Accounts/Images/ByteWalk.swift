/// A walk over the bytes of an image that never goes beyond their end: there it throws `unsupported`.
struct ByteWalk {
    private let bytes: ArraySlice<UInt8>
    private(set) var position: Int

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        position = bytes.startIndex
    }

    init(_ bytes: [UInt8]) {
        self.init(bytes[...])
    }

    /// Nil at the end.
    var next: UInt8? { position < bytes.endIndex ? bytes[position] : nil }

    mutating func byte() throws(ImageFault) -> UInt8 {
        guard let next else { throw .unsupported }
        position += 1
        return next
    }

    mutating func take(_ count: Int) throws(ImageFault) -> ArraySlice<UInt8> {
        guard count <= bytes.endIndex - position else { throw .unsupported }
        defer { position += count }
        return bytes[position..<position + count]
    }

    /// An unsigned number of so many bytes, the highest first.
    mutating func big(_ count: Int) throws(ImageFault) -> Int {
        try take(count).reduce(0) { $0 << 8 | Int($1) }
    }

    /// The same, the lowest first.
    mutating func little(_ count: Int) throws(ImageFault) -> Int {
        try take(count).reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    mutating func skip(to byte: UInt8) throws(ImageFault) {
        guard let place = bytes[position...].firstIndex(of: byte) else { throw .unsupported }
        position = place
    }
}
