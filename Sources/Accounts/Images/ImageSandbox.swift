/// Whether images may be decoded where the kernel refuses the seccomp filter of ``ImageWorker``.
package enum ImageSandbox: String, CaseIterable, Sendable {
    /// No image is decoded without the filter.
    case required
    /// The filter is used where the kernel supports it.
    case optional

    /// The flag of the worker process that stands for ``optional``.
    package static let optionalFlag = "sandbox-optional"
}
