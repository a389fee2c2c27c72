import Accounts

/// The boundary of a form with files (`multipart/form-data`) from its `Content-Type`, and the maximum size of its body.
///
/// The body may be large, so ``Uploads`` reads it only after other checks. For a draft, the draft must be found and
/// the step must be writable. For an account, the session must be found. Every upload, even one that starts a draft,
/// needs a free slot, because ``Uploads`` limits how many it reads at once. If a check fails, the body is not loaded
/// into memory.
struct FormWithFiles: Sendable {
    static let type = "multipart/form-data"

    let boundary: String
    /// The maximum size of the body in bytes: one image of maximum size for each image field of the step, plus
    /// ``BodyReader/maximumBytes`` for the texts.
    let maximumBytes: Int

    /// Returns nil if the media type is another one, if its boundary is missing, longer than 70 characters or not
    /// printable ASCII, or if the step has no image field.
    init?(_ contentType: String?, to step: Step) {
        guard !step.images.isEmpty,
            let parts = contentType?.headerParts(separatedBy: ";"),
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
