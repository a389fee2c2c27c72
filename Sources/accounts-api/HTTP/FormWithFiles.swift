import Accounts

/// The header of a form with files (`multipart/form-data`). Its body may be large, so it is read only after the draft
/// or the session is found and the step is known to be writable. A client whose request is refused earlier has
/// therefore sent little data.
struct FormWithFiles: Sendable {
    static let type = "multipart/form-data"

    let boundary: String
    /// The maximum size of the body in bytes: that of an image for each image field of the step, plus that of any other
    /// body for the texts.
    let maximumBytes: Int

    /// Returns nil if the media type is another one, if it has no valid boundary (RFC 2046 §5.1.1), or if the step has
    /// no image field.
    init?(_ contentType: String?, to step: Step) {
        guard !step.images.isEmpty,
            let parts = contentType?.split(separator: ";").map({ $0.trimmingWhitespace() }),
            parts.first?.lowercased() == Self.type,
            let parameter = parts.first(where: { $0.lowercased().hasPrefix("boundary=") })
        else { return nil }
        var boundary = parameter.dropFirst("boundary=".count)
        if boundary.hasPrefix("\""), boundary.hasSuffix("\""), boundary.utf8.count > 1 {
            boundary = boundary.dropFirst().dropLast()
        }
        guard (1...70).contains(boundary.utf8.count), boundary.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            return nil
        }
        self.boundary = String(boundary)
        maximumBytes = step.images.count * ImageField.maximumBytes + BodyReader.maximumBytes
    }
}

extension Step {
    /// The fields that ask for an image.
    var images: [Field] { fields.filter(\.kind.takesFile) }
}
