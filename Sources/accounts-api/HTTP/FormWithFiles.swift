import Accounts

/// What `Content-Type` says about a form with files (`multipart/form-data`), and the maximum size of its body. The body may
/// be large, so it is read late: for a draft, after the draft is found and the step is known to be writable; for an account,
/// after the session is found; for a new draft, when there is room for the upload. A client whose request is refused
/// earlier has therefore sent little data.
struct FormWithFiles: Sendable {
    static let type = "multipart/form-data"

    let boundary: String
    /// The maximum size of the body in bytes: that of an image for each image field of the step, plus that of any other
    /// body for the texts.
    let maximumBytes: Int

    /// Returns nil if the media type is another one, if its boundary is missing, longer than 70 characters or not
    /// printable ASCII, or if the step has no image field.
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
