import Foundation
import TestSupport
import Testing

@testable import Accounts

/// The test images have 64 by 48 pixels: red and green above blue and white.
@Suite("Photos from images")
struct PhotoTests {
    @Test(arguments: [
        "baseline.jpg", "progressive.jpg", "two.jpg", "plain.png", "palette.png", "lossy.webp", "lossless.webp",
    ])
    func `a photo is the square middle of its image`(_ name: String) throws {
        #expect(try corners(of: Photo(of: .onFile(name))) == ["red", "green", "blue", "white"])
    }

    @Test(arguments: [
        (1, ["red", "green", "blue", "white"]), (2, ["green", "red", "white", "blue"]),
        (3, ["white", "blue", "green", "red"]), (4, ["blue", "white", "red", "green"]),
        (5, ["red", "blue", "green", "white"]), (6, ["blue", "red", "white", "green"]),
        (7, ["white", "green", "blue", "red"]), (8, ["green", "white", "red", "blue"]),
    ])
    func `a photo is turned upright by its Exif orientation`(_ orientation: Int, _ seen: [String]) throws {
        #expect(try corners(of: Photo(of: .onFile("turned-\(orientation).jpg"))) == seen)
        if orientation == 6 {
            for name in ["turned-6.png", "turned-6.webp"] {
                #expect(try corners(of: Photo(of: .onFile(name))) == seen)
            }
        }
    }

    @Test(arguments: ["clear.png", "clear.webp"])
    func `transparent areas become white`(_ name: String) throws {
        #expect(try corners(of: Photo(of: .onFile(name))) == ["white", "green", "blue", "white"])
    }

    @Test func `a 16-bit image is converted as sRGB and not as linear light`() throws {
        // The grey of the image is 40000 of 65535.
        let grey = try Pixels(ImageFile(Photo(of: .onFile("deep.png")).jpeg), atLeast: 1).words[0] & 0xFF
        #expect((153...158).contains(grey))
    }

    @Test(arguments: ["baseline.jpg", "turned-6.jpg", "turned-6.png", "turned-6.webp"])
    func `a photo contains no metadata of its image`(_ name: String) throws {
        let photo = try Photo(of: .onFile(name))
        #expect(photo.jpeg.count < Photo.maximumBytes)
        #expect(!photo.jpeg.has("Exif"))
        let again = try ImageFile(photo.jpeg)
        #expect(again.format == .jpeg)
        #expect((again.width, again.height) == (512, 512))
    }

    @Test(arguments: ["animated.png", "animated.webp", "moves.gif", "drawing.svg", "cmyk.jpg"])
    func `animations, SVG drawings and CMYK images are refused`(_ name: String) throws {
        #expect(throws: ImageFault.unsupported) { try Photo(of: .onFile(name)) }
    }

    @Test(arguments: ["baseline.jpg", "progressive.jpg", "plain.png", "lossy.webp", "lossless.webp"])
    func `a truncated file is refused`(_ name: String) throws {
        let whole = try [UInt8].onFile(name)
        for count in 0..<whole.count {
            #expect(throws: ImageFault.unsupported) { try Photo(of: Array(whole[..<count])) }
        }
    }

    @Test(
        arguments: ["baseline.jpg", "plain.png", "lossy.webp"],
        ["<script>alert(1)</script>", "PK\u{3}\u{4}", "\u{FF}"]
    )
    func `a file with other content before or after the image is refused`(_ name: String, _ other: String) throws {
        #expect(throws: ImageFault.unsupported) { try Photo(of: .onFile(name) + Array(other.utf8)) }
        #expect(throws: ImageFault.unsupported) { try Photo(of: Array(other.utf8) + .onFile(name)) }
    }

    @Test func `data that cameras append to an image is ignored`() throws {
        let image = try [UInt8].onFile("turned-6.jpg")
        let film = [0, 0, 0, 0x18] + Array("ftypmp42".utf8) + [UInt8](repeating: 7, count: 100)
        let notes = [0, 0, 1, 0x0A] + [UInt8](repeating: 7, count: 50) + Array("SEFT".utf8)
        for trailer in [film, notes, image + film, [0, 0, 0]] {
            #expect(try Photo(of: image + trailer).jpeg == Photo(of: image).jpeg)
        }
        #expect(throws: ImageFault.unsupported) { try Photo(of: image + Array("<script>ftyp".utf8)) }
    }

    @Test(arguments: [(1, 3000), (3000, 1), (513, 512), (511, 511)])
    func `images of any proportions become a square`(_ width: Int, _ height: Int) throws {
        let square = try ImageFile(Photo(of: .greyPNG(width, height)).jpeg)
        #expect((square.width, square.height) == (512, 512))
    }

    @Test func `a photo of noise stays within the maximum size`() throws {
        var chance = SeededChance(seed: 1)
        let photo = try Photo(of: .greyPNG(512, 512) { UInt8.random(in: 0...255, using: &chance) })
        #expect(photo.jpeg.count <= Photo.maximumBytes)
    }

    @Test func `an image with a changed byte is refused or becomes a photo`() throws {
        var chance = SeededChance(seed: 2)
        for name in ["progressive.jpg", "plain.png", "lossy.webp", "lossless.webp"] {
            let whole = try [UInt8].onFile(name)
            for _ in 0..<300 {
                var broken = whole
                broken[Int.random(in: 0..<whole.count, using: &chance)] = UInt8.random(in: 0...255, using: &chance)
                guard let file = try? ImageFile(broken), file.width * file.height < 1_000_000 else { continue }
                if let photo = try? Photo(of: broken) { #expect(photo.jpeg.count <= Photo.maximumBytes) }
            }
        }
    }

    /// Each scan visits all pixels, so a picture of a few kilobytes could take seconds.
    @Test func `a JPEG with more scans than any encoder writes is refused`() throws {
        let image = try [UInt8].onFile("progressive.jpg")
        func adding(_ count: Int) -> [UInt8] {
            var longer = Array(image.dropLast(2))
            for _ in 1...count { longer += [0xFF, 0xDA, 0, 2] }
            return longer + image.suffix(2)
        }
        #expect(try ImageFile(adding(40)).width == 64)
        #expect(throws: ImageFault.unsupported) { try ImageFile(adding(64)) }
    }

    @Test func `an image with too many pixels is refused when its header is read`() throws {
        var png = try [UInt8].onFile("plain.png")
        // The first chunk contains the width and the height, here 7,000 by 6,000.
        png.replaceSubrange(16..<24, with: [0, 0, 0x1B, 0x58, 0, 0, 0x17, 0x70])
        #expect(throws: ImageFault.tooLarge) { try ImageFile(png) }
        png.replaceSubrange(16..<24, with: [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF])
        #expect(throws: ImageFault.tooLarge) { try ImageFile(png) }
        png.replaceSubrange(16..<24, with: [0, 0, 0, 0, 0, 0, 0, 1])
        #expect(throws: ImageFault.unsupported) { try ImageFile(png) }
        #expect(throws: ImageFault.tooLarge) {
            try ImageFile([0xFF, 0xD8, 0xFF] + [UInt8](repeating: 0, count: ImageFile.maximumBytes))
        }
    }

    @Test func `compressed text chunks are removed before decoding`() throws {
        var png = try [UInt8].onFile("plain.png")
        // A compressed text after the header chunk, which the decoder would unpack.
        let text = Array("zTXtbomb\0\0".utf8) + [UInt8](repeating: 0x78, count: 1000)
        png.insert(contentsOf: [0, 0, 3, 0xEE] + text + [0, 0, 0, 0], at: 33)
        let file = try ImageFile(png)
        #expect(!file.bytes.has("zTXt"))
        #expect(try corners(of: Photo(of: png)) == ["red", "green", "blue", "white"])
    }

    @Test func `an unknown critical chunk is refused`() throws {
        var png = try [UInt8].onFile("plain.png")
        png.insert(contentsOf: [0, 0, 0, 0] + Array("NEWS".utf8) + [0, 0, 0, 0], at: 33)
        #expect(throws: ImageFault.unsupported) { try ImageFile(png) }
    }

    /// The colours of the corners: top left, top right, bottom left, bottom right.
    private func corners(of photo: Photo) throws -> [String] {
        let pixels = try Pixels(ImageFile(photo.jpeg), atLeast: Photo.side)
        #expect((pixels.width, pixels.height) == (512, 512))
        return [(64, 64), (448, 64), (64, 448), (448, 448)].map { x, y in
            let word = pixels.words[y * 512 + x]
            let colour = [16, 8, 0].map { (word >> UInt32($0) & 0xFF) > 127 }
            return switch colour {
            case [true, false, false]: "red"
            case [false, true, false]: "green"
            case [false, false, true]: "blue"
            case [true, true, true]: "white"
            default: "\(String(word, radix: 16))"
            }
        }
    }
}

extension [UInt8] {
    /// A PNG image in 8-bit grey, not compressed (RFC 1950, RFC 1951).
    fileprivate static func greyPNG(_ width: Int, _ height: Int, _ pixel: () -> UInt8 = { 128 }) -> [UInt8] {
        func big(_ number: UInt32) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) } }
        func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
            let checked = Array(name.utf8) + content
            let sum = checked.reduce(~0) { sum, byte -> UInt32 in
                (0..<8).reduce(sum ^ UInt32(byte)) { sum, _ in sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
            }
            return big(UInt32(content.count)) + checked + big(~sum)
        }
        var raw: [UInt8] = []
        for _ in 0..<height {
            raw.append(0)
            for _ in 0..<width { raw.append(pixel()) }
        }
        var stream: [UInt8] = [0x78, 0x01]
        for start in stride(from: 0, to: raw.count, by: 65_535) {
            let block = raw[start..<Swift.min(start + 65_535, raw.count)]
            let (length, isLast) = (UInt16(block.count), start + 65_535 >= raw.count)
            stream.append(isLast ? 1 : 0)
            for number in [length, ~length] { stream += [UInt8(number & 0xFF), UInt8(number >> 8)] }
            stream += block
        }
        let sums = raw.reduce((UInt32(1), UInt32(0))) { sums, byte in
            let low = (sums.0 + UInt32(byte)) % 65_521
            return (low, (sums.1 + low) % 65_521)
        }
        stream += big(sums.1 << 16 | sums.0)
        return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
            + chunk("IHDR", big(UInt32(width)) + big(UInt32(height)) + [8, 0, 0, 0, 0]) + chunk("IDAT", stream)
            + chunk("IEND", [])
    }

    /// An image from the corpus of the fuzzer.
    static func onFile(_ name: String) throws -> [UInt8] {
        let folder = Repository.root.appending(path: "Tests/Fuzzing/corpus/image")
        return try Array(Data(contentsOf: folder.appending(path: name)))
    }

    fileprivate func has(_ text: String) -> Bool { Data(self).range(of: Data(text.utf8)) != nil }
}
