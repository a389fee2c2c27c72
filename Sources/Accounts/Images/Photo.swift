/// An image as it is stored: a JPEG of ``side`` by ``side`` pixels and at most ``maximumBytes``, without metadata.
///
/// It is a JPEG, because every program can show one. Transparent pixels are blended with white.
package struct Photo: Sendable {
    package static let side = 512
    package static let type = "image/jpeg"
    package static let maximumBytes = 192 * 1024

    package let jpeg: [UInt8]

    init(jpeg: [UInt8]) {
        self.jpeg = jpeg
    }

    /// Reads the output of a worker. Returns nil unless it is exactly one upright JPEG of ``side`` by ``side`` pixels,
    /// without any other data.
    init?(fromWorker output: [UInt8]) {
        guard output.count <= Self.maximumBytes, let file = try? ImageFile(output), file.format == .jpeg,
            file.width == Self.side, file.height == Self.side, file.orientation == .upright, file.isBare,
            // `ImageFile` removes data that cameras append, so its bytes are fewer if there is such data.
            file.bytes.count == output.count
        else { return nil }
        self.init(jpeg: output)
    }

    /// Converts an image that ``ImageFile`` supports: cuts out the central square, scales it, and turns it upright.
    /// This may take a few hundred megabytes of memory and several seconds, and decodes untrusted data, so run it in a
    /// separate process (``ImageWorker``).
    package init(of image: [UInt8]) throws(ImageFault) {
        let file = try ImageFile(image)
        let square = try Pixels(file, atLeast: Self.side).square(of: Self.side).turned(file.orientation)
        square.flatten()
        var jpeg: [UInt8] = []
        // Photographs fit at the first quality. Even an image of noise fits at the second.
        for quality in [85, 70, 50, 25, 10] {
            jpeg = try square.jpeg(quality: quality)
            if jpeg.count <= Self.maximumBytes { break }
        }
        self.jpeg = jpeg
    }
}
