/// Why nothing can be made of an image.
package enum ImageFault: Error, Hashable, Sendable {
    /// No whole, still JPEG, PNG or WebP.
    case unsupported
    /// More bytes or pixels than ``ImageFile/maximumBytes`` and ``ImageFile/maximumPixels``.
    case tooLarge
}
