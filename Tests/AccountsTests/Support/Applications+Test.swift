import Accounts

extension Applications {
    /// The secret files that ``test(_:publicURL:secrets:)`` reads by default, by path.
    static let secrets = [
        "/secrets/shop": SecretFile(lines: [newSecret, oldSecret]),
        "/secrets/hooks": SecretFile(lines: ["whsec_" + String(repeating: "A", count: 32)]),
    ]
    static let newSecret = "a-new-secret-of-the-shop-with-48-characters-000"
    static let oldSecret = "an-old-secret-of-the-shop-with-48-characters-00"

    /// Parses the text of an applications file, whose claims are fields of the built-in flow.
    static func test(
        _ yaml: String,
        publicURL: String = "https://accounts.example",
        secrets: [String: SecretFile] = secrets
    ) throws -> Applications {
        try parse(yaml, file: "apps.yaml", flow: .standard(), publicURL: publicURL) {
            path throws(SecretFile.Unreadable) in
            guard let file = secrets[path] else { throw SecretFile.Unreadable("no such file") }
            return file
        }
    }

    /// The text of an applications file with one application, whose id is `shop`.
    ///
    /// - Parameter lines: more keys of the application, one in each line. The first one is in line 5 of the file.
    static func file(redirectURIs: String = "['https://shop.example/callback']", _ lines: String...) -> String {
        """
        applications:
          - id: shop
            name: {en: Shop, ko: 상점}
            redirect_uris: \(redirectURIs)
        \(lines.map { "    \($0)\n" }.joined())
        """
    }
}
