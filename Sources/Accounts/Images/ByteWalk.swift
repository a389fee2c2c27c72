/// Reads the bytes of an image in order, and throws `unsupported` instead of reading beyond their end.
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

    /// The next byte, without reading it; nil at the end.
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

    /// Reads an unsigned big-endian number of `count` bytes.
    mutating func big(_ count: Int) throws(ImageFault) -> Int {
        try take(count).reduce(0) { $0 << 8 | Int($1) }
    }

    /// Reads an unsigned little-endian number of `count` bytes.
    mutating func little(_ count: Int) throws(ImageFault) -> Int {
        try take(count).reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    mutating func skip(to byte: UInt8) throws(ImageFault) {
        guard let index = bytes[position...].firstIndex(of: byte) else { throw .unsupported }
        position = index
    }
}
