/// Why an image is refused.
package enum ImageFault: Error, Hashable, Sendable {
    /// The file is not a complete, still JPEG, PNG or WebP image.
    case unsupported
    /// The image has more bytes or pixels than ``ImageFile/maximumBytes`` and ``ImageFile/maximumPixels``.
    case tooLarge
}
