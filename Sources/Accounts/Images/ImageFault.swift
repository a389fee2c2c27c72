/// The reason why an image is refused.
package enum ImageFault: Error, Hashable, Sendable {
    /// The file is not a complete, still JPEG, PNG or WebP image, has other data after the image, or cannot be decoded
    /// within the limits of ``ImageWorker``.
    case unsupported
    /// The image has more bytes than ``ImageFile/maximumBytes``, or more pixels than ``ImageFile/maximumPixels``.
    case tooLarge
}
