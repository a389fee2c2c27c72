/// An image as it is kept: a JPEG of ``side`` by ``side`` pixels, of at most ``maximumBytes``, that says nothing of
/// where and how it was taken.
///
/// JPEG, because whatever shows pictures shows it; what shone through is white.
package struct Photo: Sendable {
    package static let side = 512
    package static let type = "image/jpeg"
    package static let maximumBytes = 192 * 1024

    package let jpeg: [UInt8]

    init(jpeg: [UInt8]) {
        self.jpeg = jpeg
    }

    /// The middle of any image of a kind that ``ImageFile`` knows, upright. It takes up to some hundred megabytes and
    /// seconds, and goes through code that reads what strangers wrote: it is for a process of its own (``ImageWorker``).
    package init(of image: [UInt8]) throws(ImageFault) {
        let file = try ImageFile(image)
        let square = try Pixels(file, atLeast: Self.side).square(of: Self.side).turned(file.orientation)
        square.flatten()
        var jpeg: [UInt8] = []
        // The last is for noise.
        for quality in [85, 70, 50, 25, 10] {
            jpeg = try square.jpeg(quality: quality)
            if jpeg.count <= Self.maximumBytes { break }
        }
        self.jpeg = jpeg
    }
}
