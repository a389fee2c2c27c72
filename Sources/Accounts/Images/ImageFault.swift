/// The reason why an image is refused.
package enum ImageFault: Error, Hashable, Sendable {
    /// The file is not a complete, still JPEG, PNG or WebP image that can be decoded within the limits of
    /// ``ImageWorker``, or has data after the image that ``ImageFile`` does not permit.
    case unsupported
    /// The image has more bytes than ``ImageFile/maximumBytes``, or more pixels than ``ImageFile/maximumPixels``.
    case tooLarge
}
