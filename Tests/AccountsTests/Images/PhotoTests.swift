import Foundation
import Testing

@testable import Accounts

/// What becomes of an image. Those on file are red and green above blue and white, 64 by 48.
struct PhotoTests {
    @Test(arguments: [
        "baseline.jpg", "progressive.jpg", "two.jpg", "plain.png", "palette.png", "lossy.webp", "lossless.webp",
    ])
    func `an image becomes a square of its middle`(_ name: String) throws {
        #expect(try corners(of: Photo(of: .onFile(name))) == ["red", "green", "blue", "white"])
    }

    @Test(arguments: [
        (1, ["red", "green", "blue", "white"]), (2, ["green", "red", "white", "blue"]),
        (3, ["white", "blue", "green", "red"]), (4, ["blue", "white", "red", "green"]),
        (5, ["red", "blue", "green", "white"]), (6, ["blue", "red", "white", "green"]),
        (7, ["white", "green", "blue", "red"]), (8, ["green", "white", "red", "blue"]),
    ])
    func `it stands upright, however the camera was held`(_ orientation: Int, _ seen: [String]) throws {
        #expect(try corners(of: Photo(of: .onFile("turned-\(orientation).jpg"))) == seen)
        if orientation == 6 {
            for name in ["turned-6.png", "turned-6.webp"] {
                #expect(try corners(of: Photo(of: .onFile(name))) == seen)
            }
        }
    }

    @Test(arguments: ["clear.png", "clear.webp"])
    func `what shines through is white`(_ name: String) throws {
        #expect(try corners(of: Photo(of: .onFile(name))) == ["white", "green", "blue", "white"])
    }

    @Test func `sixteen bits are not taken for linear light`() throws {
        // 40000 of 65535.
        let grey = try Pixels(ImageFile(Photo(of: .onFile("deep.png")).jpeg), atLeast: 1).words[0] & 0xFF
        #expect((153...158).contains(grey))
    }

    @Test(arguments: ["baseline.jpg", "turned-6.jpg", "turned-6.png", "turned-6.webp"])
    func `nothing of the file is left but what it shows`(_ name: String) throws {
        let photo = try Photo(of: .onFile(name))
        #expect(photo.jpeg.count < Photo.mostBytes)
        #expect(!photo.jpeg.has("Exif"))
        let again = try ImageFile(photo.jpeg)
        #expect(again.format == .jpeg)
        #expect((again.width, again.height) == (512, 512))
    }

    @Test(arguments: ["animated.png", "animated.webp", "moves.gif", "drawing.svg", "cmyk.jpg"])
    func `what moves, is drawn by a script, or is made for print is refused`(_ name: String) throws {
        #expect(throws: ImageFault.unsupported) { try Photo(of: .onFile(name)) }
    }

    @Test(arguments: ["baseline.jpg", "progressive.jpg", "plain.png", "lossy.webp", "lossless.webp"])
    func `a file without its end is refused, wherever it breaks off`(_ name: String) throws {
        let whole = try [UInt8].onFile(name)
        for count in 0..<whole.count {
            #expect(throws: ImageFault.unsupported) { try Photo(of: Array(whole[..<count])) }
        }
    }

    @Test(
        arguments: ["baseline.jpg", "plain.png", "lossy.webp"],
        ["<script>alert(1)</script>", "PK\u{3}\u{4}", "\u{FF}"]
    )
    func `a file that is something else besides is refused`(_ name: String, _ other: String) throws {
        #expect(throws: ImageFault.unsupported) { try Photo(of: .onFile(name) + Array(other.utf8)) }
        #expect(throws: ImageFault.unsupported) { try Photo(of: Array(other.utf8) + .onFile(name)) }
    }

    @Test func `an image of too many pixels is refused by its header`() throws {
        var png = try [UInt8].onFile("plain.png")
        // Width and height stand in the first chunk: 7,000 by 6,000.
        png.replaceSubrange(16..<24, with: [0, 0, 0x1B, 0x58, 0, 0, 0x17, 0x70])
        #expect(throws: ImageFault.tooLarge) { try ImageFile(png) }
        png.replaceSubrange(16..<24, with: [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF])
        #expect(throws: ImageFault.tooLarge) { try ImageFile(png) }
        png.replaceSubrange(16..<24, with: [0, 0, 0, 0, 0, 0, 0, 1])
        #expect(throws: ImageFault.unsupported) { try ImageFile(png) }
        #expect(throws: ImageFault.tooLarge) {
            try ImageFile([0xFF, 0xD8, 0xFF] + [UInt8](repeating: 0, count: ImageFile.mostBytes))
        }
    }

    @Test func `the decoder never sees what unpacks to more than the picture`() throws {
        var png = try [UInt8].onFile("plain.png")
        // Behind the header chunk, a text that the decoder would unpack.
        let text = Array("zTXtbomb\0\0".utf8) + [UInt8](repeating: 0x78, count: 1000)
        png.insert(contentsOf: [0, 0, 3, 0xEE] + text + [0, 0, 0, 0], at: 33)
        let file = try ImageFile(png)
        #expect(!file.bytes.has("zTXt"))
        #expect(try corners(of: Photo(of: png)) == ["red", "green", "blue", "white"])
    }

    @Test func `a chunk that has to be understood and is not refuses the picture`() throws {
        var png = try [UInt8].onFile("plain.png")
        png.insert(contentsOf: [0, 0, 0, 0] + Array("NEWS".utf8) + [0, 0, 0, 0], at: 33)
        #expect(throws: ImageFault.unsupported) { try ImageFile(png) }
    }

    /// Left and right above, then left and right below.
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
    /// An image of those that fuzzing begins with.
    static func onFile(_ name: String) throws -> [UInt8] {
        let folder = URL(filePath: #filePath).appending(path: "../../../Fuzzing/corpus/image").standardized
        return try Array(Data(contentsOf: folder.appending(path: name)))
    }

    fileprivate func has(_ text: String) -> Bool { Data(self).range(of: Data(text.utf8)) != nil }
}
