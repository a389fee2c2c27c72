/// The format, size and orientation of a file with a still image, read without decoding the image.
///
/// Animations are refused. Data after the end of the image is refused too, because another program could read it as
/// another type of file. Only data that cameras append to a JPEG, such as further images, is permitted, and removed.
struct ImageFile {
    static let maximumBytes = 5 * 1024 * 1024
    static let maximumPixels = 40_000_000

    enum Format {
        case jpeg, png, webp
    }

    let format: Format
    let width, height: Int
    let orientation: Orientation
    /// True only if ``bytes`` is a JPEG without text, profile, thumbnail or other data beside the picture. Always false
    /// for a PNG or a WebP.
    let isBare: Bool
    /// The bytes for the decoder: a JPEG without the data that cameras append, a PNG with only the chunks that form the
    /// picture, and a WebP unchanged.
    let bytes: [UInt8]

    /// Detects the format from the bytes. The media type that the client declares does not matter.
    init(_ bytes: [UInt8]) throws(ImageFault) {
        if bytes.count > Self.maximumBytes { throw .tooLarge }
        if bytes.starts(with: [0xFF, 0xD8, 0xFF]) {
            try self.init(jpeg: bytes)
        } else if bytes.starts(with: PNGChunk.signature) {
            try self.init(png: bytes)
        } else if bytes.starts(with: Array("RIFF".utf8)) {
            try self.init(webp: bytes)
        } else {
            throw .unsupported
        }
    }

    private init(
        _ format: Format,
        _ size: (width: Int, height: Int)?,
        _ orientation: Orientation,
        isBare: Bool = false,
        _ bytes: [UInt8]
    ) throws(ImageFault) {
        guard let size, size.width > 0, size.height > 0 else { throw .unsupported }
        if size.width > Self.maximumPixels / size.height { throw .tooLarge }
        (self.format, width, height) = (format, size.width, size.height)
        self.orientation = orientation
        self.isBare = isBare
        self.bytes = bytes
    }
}

// MARK: - JPEG (ITU-T T.81, annex B)

extension ImageFile {
    /// Removes the data that cameras append: further images, such as one for HDR screens (CIPA DC-007), bytes of value
    /// zero, a short video (ISO 14496-12), and private data of Samsung, which ends with `SEFT`. Refuses any other
    /// appended data.
    private init(jpeg bytes: [UInt8]) throws(ImageFault) {
        var walk = ByteWalk(bytes)
        let first = try JPEGImage(&walk)
        let end = walk.position
        while let byte = walk.next, !Self.isFromCamera(bytes[walk.position...]) {
            if byte == 0 { _ = try walk.byte() } else { _ = try JPEGImage(&walk) }
        }
        try self.init(.jpeg, first.size, first.orientation, isBare: first.isBare, Array(bytes[..<end]))
    }

    private static func isFromCamera(_ rest: ArraySlice<UInt8>) -> Bool {
        rest.dropFirst(4).starts(with: "ftyp".utf8) || rest.suffix(4).elementsEqual("SEFT".utf8)
    }
}

/// One image, from the marker SOI (start of image) to the marker EOI (end of image).
private struct JPEGImage {
    private(set) var size: (width: Int, height: Int)?
    private(set) var orientation = Orientation.upright
    private(set) var isBare = true
    private var hasJFIF = false
    private var scans = 0
    /// A scan of a few bytes can make the decoder visit all pixels, so the number of scans is limited. Encoders write
    /// about ten scans for a progressive picture.
    private static let maximumScans = 64
    /// The content of the JFIF segment as libjpeg-turbo writes it: version 1.01, no resolution and no thumbnail.
    private static let jfif = Array("JFIF\0".utf8) + [1, 1, 0, 0, 1, 0, 1, 0, 0]

    init(_ walk: inout ByteWalk) throws(ImageFault) {
        guard try walk.take(2) == [0xFF, 0xD8] else { throw .unsupported }
        while true {
            switch try Self.marker(&walk) {
            case 0xD9: return
            case 0x00, 0xD8: throw .unsupported
            // Restart markers and TEM have no length. No picture needs them outside of a scan.
            case 0x01, 0xD0...0xD7: isBare = false
            case let marker:
                let length = try walk.big(2)
                if length < 2 { throw .unsupported }
                try read(walk.take(length - 2), after: marker)
                if marker == 0xDA {
                    scans += 1
                    if scans > Self.maximumScans { throw .unsupported }
                    try Self.skipScan(&walk)
                }
            }
        }
    }

    private mutating func read(_ segment: ArraySlice<UInt8>, after marker: UInt8) throws(ImageFault) {
        switch marker {
        // DHT, JPG and DAC are in the range of the frame markers, but are not frames.
        case 0xC0...0xCF where ![0xC4, 0xC8, 0xCC].contains(marker):
            var frame = ByteWalk(segment)
            _ = try frame.byte()
            let (height, width) = (try frame.big(2), try frame.big(2))
            if size != nil { throw .unsupported }
            size = (width, height)
            if segment.count != 6 + 3 * Int(try frame.byte()) { isBare = false }
        // DHT, SOS and DQT belong to the picture.
        case 0xC4, 0xDA, 0xDB: break
        case 0xE0 where segment.elementsEqual(Self.jfif) && !hasJFIF: hasJFIF = true
        case 0xE1 where segment.starts(with: Orientation.exif):
            orientation = Orientation(tiff: segment.dropFirst(Orientation.exif.count)) ?? orientation
            isBare = false
        default: isBare = false
        }
    }

    private static func marker(_ walk: inout ByteWalk) throws(ImageFault) -> UInt8 {
        guard try walk.byte() == 0xFF else { throw .unsupported }
        var marker = try walk.byte()
        while marker == 0xFF { marker = try walk.byte() }
        return marker
    }

    /// Skips to the marker after the entropy-coded data, in which FF occurs only before zero and in restart markers.
    private static func skipScan(_ walk: inout ByteWalk) throws(ImageFault) {
        while true {
            try walk.skip(to: 0xFF)
            let beforeMarker = walk
            switch try marker(&walk) {
            case 0x00, 0xD0...0xD7: continue
            default:
                walk = beforeMarker
                return
            }
        }
    }
}

// MARK: - PNG (W3C, third edition)

private enum PNGChunk {
    static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
}

extension ImageFile {
    /// Keeps only the chunks that form the picture, because a small compressed text or profile may unpack to gigabytes.
    private init(png bytes: [UInt8]) throws(ImageFault) {
        var walk = ByteWalk(bytes)
        var keptChunks = Array(try walk.take(PNGChunk.signature.count))
        var size: (width: Int, height: Int)?
        var orientation = Orientation.upright
        var hasEnded = false
        while !hasEnded {
            let start = walk.position
            let length = try walk.big(4)
            let name = String(decoding: try walk.take(4), as: UTF8.self)
            let content = try walk.take(length)
            _ = try walk.take(4)
            guard (name == "IHDR") == (size == nil) else { throw .unsupported }
            switch name {
            case "IHDR":
                var header = ByteWalk(content)
                size = (try header.big(4), try header.big(4))
            case "IEND": hasEnded = true
            case "PLTE", "IDAT", "tRNS": break
            case "eXIf":
                orientation = Orientation(tiff: content) ?? orientation
                continue
            case "acTL", "fcTL", "fdAT": throw .unsupported
            // A capital first letter marks a critical chunk, without which the picture cannot be drawn.
            default:
                if name.utf8.first.map({ $0 & 0x20 == 0 }) ?? true { throw .unsupported }
                continue
            }
            keptChunks += bytes[start..<walk.position]
        }
        if walk.next != nil { throw .unsupported }
        try self.init(.png, size, orientation, keptChunks)
    }
}

// MARK: - WebP (RFC 9649)

extension ImageFile {
    private init(webp bytes: [UInt8]) throws(ImageFault) {
        var walk = ByteWalk(bytes)
        _ = try walk.take(4)
        guard try walk.little(4) == bytes.count - 8, try walk.take(4) == ArraySlice("WEBP".utf8) else {
            throw .unsupported
        }
        var size: (width: Int, height: Int)?
        var orientation = Orientation.upright
        while walk.next != nil {
            let name = String(decoding: try walk.take(4), as: UTF8.self)
            let length = try walk.little(4)
            let content = try walk.take(length)
            if length % 2 == 1 { _ = try walk.byte() }
            switch name {
            case "VP8X":
                var header = ByteWalk(content)
                let isAnimated = try header.byte() & 0x02 != 0
                _ = try header.take(3)
                if isAnimated || size != nil { throw .unsupported }
                size = (try header.little(3) + 1, try header.little(3) + 1)
            case "VP8 ":
                var header = ByteWalk(content.dropFirst(6))
                let frameSize = (try header.little(2) & 0x3FFF, try header.little(2) & 0x3FFF)
                size = size ?? frameSize
            case "VP8L":
                var header = ByteWalk(content.dropFirst(1))
                let bits = try header.little(4)
                size = size ?? (bits & 0x3FFF + 1, bits >> 14 & 0x3FFF + 1)
            case "EXIF": orientation = Orientation(tiff: content) ?? orientation
            case "ANIM", "ANMF": throw .unsupported
            default: continue
            }
        }
        try self.init(.webp, size, orientation, bytes)
    }
}
