/// All applications of one applications file.
package struct Applications: Sendable {
    /// The applications in the order of the file.
    package let all: [Application]
    /// The list `issuer_audience` of the file. Its first entry is the `aud` of access tokens; if the list is empty, the
    /// `aud` is the issuer. Further entries have no effect.
    package let issuerAudience: [String]
    /// Risks that do not prevent the use of the file, such as a secret file that every user of the machine can read.
    package let warnings: [YAMLFileError]
    private let byID: [String: Application]
    /// The origins of the redirect URIs of public applications, which have no secret.
    private let origins: Set<String>

    init(all: [Application], issuerAudience: [String], warnings: [YAMLFileError]) {
        (self.all, self.issuerAudience, self.warnings) = (all, issuerAudience, warnings)
        byID = Dictionary(uniqueKeysWithValues: all.map { ($0.id, $0) })
        origins = Set(all.filter(\.isPublic).flatMap(\.redirectURIs).compactMap(ApplicationURIRules.origin))
    }

    package subscript(id: String) -> Application? {
        // An id has at most 64 bytes. A longer text from a client would only take time to hash.
        id.utf8.count <= 64 ? byID[id] : nil
    }

    /// Whether a script from that origin may belong to an application: true if some public application has a redirect
    /// URI with the origin. Applications with a secret run on a server, not in a browser.
    ///
    /// - Parameter origin: the value of the header `Origin`, such as `https://shop.example`.
    package func allows(origin: String) -> Bool { origin.utf8.count <= 300 && origins.contains(origin) }
}
