internal import Foundation

/// A temporary folder with an applications file for `APPLICATIONS_FILE`, and a file with the secret of its webhooks.
struct ApplicationsFolder {
    private let folder: URL

    var file: String { folder.appending(path: "applications.yaml").path }

    /// - Parameter applications: the ids of public applications, each with the URL of a webhook for the event
    ///   `account.updated`, or with nil for no webhook.
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
