internal import CPNG
internal import CTurboJPEG
internal import CWebP
internal import Foundation

/// A decoded image, row by row. Each pixel is a 32-bit word, with blue in its lowest byte, then green, red and alpha.
///
/// The decoders are those of browsers (libjpeg-turbo, libpng, libwebp). The decoders for JPEG and WebP scale a large
/// image down while they decode it. A PNG is stored here with all of its pixels.
struct Pixels: ~Copyable {
    private(set) var words: UnsafeMutablePointer<UInt32>
    private(set) var width, height: Int

    private init(_ width: Int, _ height: Int) {
        words = .allocate(capacity: width * height)
        // A pixel that a decoder leaves out is transparent, and does not contain old memory.
        words.initialize(repeating: 0, count: width * height)
        (self.width, self.height) = (width, height)
    }

    deinit {
        words.deallocate()
    }

    /// - Parameter side: the minimum length of each side, if the image is that large and fits into memory at that size.
    init(_ file: ImageFile, atLeast side: Int) throws(ImageFault) {
        self =
            switch file.format {
            case .jpeg: try Self.ofJPEG(file, side)
            case .png: try Self.ofPNG(file)
            case .webp: try Self.ofWebP(file, side)
            }
    }

    private static func ofJPEG(_ file: ImageFile, _ side: Int) throws(ImageFault) -> Pixels {
        guard let decoder = tjInitDecompress() else { throw .unsupported }
        defer { tjDestroy(decoder) }
        let scale = Self.scale(of: file, side)
        let pixels = Pixels(scale.scaled(file.width), scale.scaled(file.height))
        let status = tjDecompress2(
            decoder,
            file.bytes,
            UInt(file.bytes.count),
            UnsafeMutableRawPointer(pixels.words).assumingMemoryBound(to: UInt8.self),
            Int32(pixels.width),
            0,
            Int32(pixels.height),
            Int32(TJPF_BGRA.rawValue),
            // A second limit for the number of scans, after that of `ImageFile`.
            Int32(TJFLAG_LIMITSCANS)
        )
        // libjpeg-turbo reports small faults in the files of cameras as warnings. If an error follows a warning,
        // libjpeg-turbo still reports the warning, but the last pixel is missing.
        let isComplete = status == 0 || tjGetErrorCode(decoder) == Int32(TJERR_WARNING.rawValue)
        guard isComplete, pixels.words[pixels.width * pixels.height - 1] >> 24 == 255 else { throw .unsupported }
        return pixels
    }

    /// The maximum number of pixels of a scaled JPEG. They take 40 MB of memory.
    private static let maximumScaledPixels = 10_000_000

    /// Considers the scaling factors of the JPEG decoder that leave at most ``maximumScaledPixels``. Returns the smallest
    /// one that leaves each side at least `side` pixels long; if there is none, the largest one.
    private static func scale(of file: ImageFile, _ side: Int) -> tjscalingfactor {
        var count: Int32 = 0
        let whole = tjscalingfactor(num: 1, denom: 1)
        guard let all = tjGetScalingFactors(&count) else { return whole }
        let scales = UnsafeBufferPointer(start: all, count: Int(count)).filter { scale in
            scale.num <= scale.denom
                && scale.scaled(file.width) * scale.scaled(file.height) <= maximumScaledPixels
        }.sorted { $0.num * $1.denom < $1.num * $0.denom }
        let sufficient = scales.first { scale in
            min(file.width, file.height) * Int(scale.num) >= side * Int(scale.denom)
        }
        return sufficient ?? scales.last ?? whole
    }

    private static func ofPNG(_ file: ImageFile) throws(ImageFault) -> Pixels {
        var image = png_image()
        image.version = UInt32(PNG_IMAGE_VERSION)
        defer { png_image_free(&image) }
        guard png_image_begin_read_from_memory(&image, file.bytes, file.bytes.count) != 0,
            (Int(image.width), Int(image.height)) == (file.width, file.height)
        else { throw .unsupported }
        image.format = PNG_FORMAT_FLAG_COLOR | PNG_FORMAT_FLAG_ALPHA | PNG_FORMAT_FLAG_BGR
        // Without this flag, libpng would treat samples of 16 bits as linear light.
        image.flags |= UInt32(PNG_IMAGE_FLAG_16BIT_sRGB)
        let pixels = Pixels(file.width, file.height)
        guard png_image_finish_read(&image, nil, pixels.words, 0, nil) != 0 else { throw .unsupported }
        return pixels
    }

    private static func ofWebP(_ file: ImageFile, _ side: Int) throws(ImageFault) -> Pixels {
        var configuration = WebPDecoderConfig()
        guard WebPInitDecoderConfig(&configuration) != 0,
            WebPGetFeatures(file.bytes, file.bytes.count, &configuration.input) == VP8_STATUS_OK,
            (Int(configuration.input.width), Int(configuration.input.height)) == (file.width, file.height),
            configuration.input.has_animation == 0
        else { throw .unsupported }
        let shorter = min(file.width, file.height)
        let (width, height) =
            shorter <= side
            ? (file.width, file.height) : (file.width * side / shorter, file.height * side / shorter)
        let pixels = Pixels(width, height)
        configuration.options.use_scaling = 1
        configuration.options.scaled_width = Int32(width)
        configuration.options.scaled_height = Int32(height)
        configuration.output.colorspace = MODE_BGRA
        configuration.output.is_external_memory = 1
        configuration.output.u.RGBA.rgba = UnsafeMutableRawPointer(pixels.words).assumingMemoryBound(to: UInt8.self)
        configuration.output.u.RGBA.stride = Int32(width * 4)
        configuration.output.u.RGBA.size = width * height * 4
        guard WebPDecode(file.bytes, file.bytes.count, &configuration) == VP8_STATUS_OK else { throw .unsupported }
        return pixels
    }
}

extension Pixels {
    /// The central square, scaled to `side` by `side` pixels.
    func square(of side: Int) throws(ImageFault) -> Pixels {
        let shorter = min(width, height)
        var picture = WebPPicture()
        guard WebPPictureInit(&picture) != 0 else { throw .unsupported }
        defer { WebPPictureFree(&picture) }
        picture.use_argb = 1
        (picture.width, picture.height) = (Int32(shorter), Int32(shorter))
        picture.argb = words + (height - shorter) / 2 * width + (width - shorter) / 2
        picture.argb_stride = Int32(width)
        guard WebPPictureRescale(&picture, Int32(side), Int32(side)) != 0 else { throw .unsupported }
        let square = Pixels(side, side)
        for row in 0..<side {
            (square.words + row * side).update(from: picture.argb + row * Int(picture.argb_stride), count: side)
        }
        return square
    }

    /// The square, turned for display.
    func turned(_ orientation: Orientation) -> Pixels {
        let turned = Pixels(width, height)
        for y in 0..<height {
            for x in 0..<width {
                let source = orientation.storedPosition(x, y, in: width)
                turned.words[y * width + x] = words[source.y * width + source.x]
            }
        }
        return turned
    }

    /// Blends transparent pixels with white.
    func flatten() {
        for index in 0..<width * height {
            let word = words[index]
            let alpha = word >> 24
            if alpha == 255 { continue }
            func blended(_ shift: UInt32) -> UInt32 {
                let colour = word >> shift & 0xFF
                return ((colour * alpha + 255 * (255 - alpha) + 127) / 255) << shift
            }
            words[index] = 0xFF00_0000 | blended(16) | blended(8) | blended(0)
        }
    }

    /// - Parameter quality: from 1 to 100.
    func jpeg(quality: Int) throws(ImageFault) -> [UInt8] {
        guard let encoder = tjInitCompress() else { throw .unsupported }
        defer { tjDestroy(encoder) }
        var output: UnsafeMutablePointer<UInt8>?
        var count: UInt = 0
        defer { tjFree(output) }
        let status = tjCompress2(
            encoder,
            UnsafeMutableRawPointer(words).assumingMemoryBound(to: UInt8.self),
            Int32(width),
            0,
            Int32(height),
            Int32(TJPF_BGRX.rawValue),
            &output,
            &count,
            Int32(TJSAMP_420.rawValue),
            Int32(quality),
            0
        )
        guard status == 0, let output else { throw .unsupported }
        return Array(UnsafeBufferPointer(start: output, count: Int(count)))
    }
}

extension tjscalingfactor {
    /// The length of a side of the scaled picture.
    fileprivate func scaled(_ length: Int) -> Int { (length * Int(num) + Int(denom) - 1) / Int(denom) }
}
