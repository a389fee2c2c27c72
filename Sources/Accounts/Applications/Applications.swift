/// All applications of one applications file.
package struct Applications: Sendable {
    /// In the order of the file.
    package let all: [Application]
    /// The audiences of tokens that are for no single application.
    package let issuerAudience: [String]
    /// Risks that the file takes, such as a secret file that everybody may read.
    package let warnings: [FlowFileError]
    private let byID: [String: Application]
    /// Those of the redirect URIs of public applications.
    private let origins: Set<String>

    init(all: [Application], issuerAudience: [String], warnings: [FlowFileError]) {
        (self.all, self.issuerAudience, self.warnings) = (all, issuerAudience, warnings)
        byID = Dictionary(uniqueKeysWithValues: all.map { ($0.id, $0) })
        origins = Set(all.filter(\.isPublic).flatMap(\.redirectURIs).compactMap(ApplicationURI.origin))
    }

    package subscript(id: String) -> Application? {
        // Hashing a long text of a stranger is slow.
        id.utf8.count <= 64 ? byID[id] : nil
    }

    /// Whether a script of that origin is a part of an application: one of a public application's redirect URIs has it. An
    /// application with a secret runs on a server.
    ///
    /// - Parameter origin: as browsers send it, such as `https://shop.example`.
    package func allows(origin: String) -> Bool { origin.utf8.count <= 300 && origins.contains(origin) }
}
