internal import Foundation

/// A folder with a file for `APPLICATIONS_FILE`, and with the secret of the webhooks in it.
struct ApplicationsFolder {
    private let folder: URL

    var file: String { folder.appending(path: "applications.yaml").path }

    /// - Parameter applications: the ids of public applications, each with the URL of its webhook, if it has one, which
    ///   gets the event `account.updated`.
    init(_ applications: [String: String?]) throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "applications-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        var text = "applications:\n"
        for (id, webhook) in applications {
            text += """
                  - id: \(id)
                    name: {en: \(id), ko: \(id)}
                    redirect_uris: ['https://\(id).example/callback']

                """
            guard let webhook else { continue }
            text += "    webhook: {url: '\(webhook)', events: [account.updated], secret_file: secret}\n"
        }
        try Data(text.utf8).write(to: URL(filePath: file))
        let secret = "whsec_" + Data(repeating: 7, count: 32).base64EncodedString()
        try Data(secret.utf8).write(to: folder.appending(path: "secret"))
    }

    func remove() { try? FileManager.default.removeItem(at: folder) }
}
