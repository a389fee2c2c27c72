/// How the stored picture must be turned or mirrored for display (TIFF 6.0, tag 274; Exif 3.0, 4.6.5.1).
enum Orientation: Int {
    case upright = 1
    case mirrored, upsideDown, flipped, transposed, clockwise, transversed, counterclockwise

    /// The prefix of the TIFF structure in a JPEG.
    static let exif = Array("Exif\0\0".utf8)

    /// Reads the tag from the first directory of a TIFF structure; nil if it is missing or invalid.
    init?(tiff: ArraySlice<UInt8>) {
        guard let value = try? Self.value(in: tiff) else { return nil }
        self.init(rawValue: value)
    }

    private static func value(in tiff: ArraySlice<UInt8>) throws(ImageFault) -> Int? {
        var walk = ByteWalk(tiff)
        let byteOrder = try walk.take(2)
        let isLittleEndian = byteOrder == ArraySlice("II".utf8)
        guard isLittleEndian || byteOrder == ArraySlice("MM".utf8) else { return nil }
        func number(_ count: Int, _ walk: inout ByteWalk) throws(ImageFault) -> Int {
            isLittleEndian ? try walk.little(count) : try walk.big(count)
        }
        guard try number(2, &walk) == 42 else { return nil }
        var directory = ByteWalk(tiff.dropFirst(try number(4, &walk)))
        for _ in 0..<(try number(2, &directory)) {
            let (tag, type) = (try number(2, &directory), try number(2, &directory))
            let count = try number(4, &directory)
            var value = ByteWalk(try directory.take(4))
            // The orientation is one number of type 3, a SHORT of 16 bits.
            if tag == 274, type == 3, count == 1 { return try number(2, &value) }
        }
        return nil
    }

    /// The stored position of the pixel that is shown at `x` and `y` of a square.
    func storedPosition(_ x: Int, _ y: Int, in side: Int) -> (x: Int, y: Int) {
        let (right, bottom) = (side - 1 - x, side - 1 - y)
        return switch self {
        case .upright: (x, y)
        case .mirrored: (right, y)
        case .upsideDown: (right, bottom)
        case .flipped: (x, bottom)
        case .transposed: (y, x)
        case .clockwise: (y, right)
        case .transversed: (bottom, right)
        case .counterclockwise: (bottom, x)
        }
    }
}
