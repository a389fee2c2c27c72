import Accounts

extension Applications {
    /// The secrets of ``test(_:publicURL:secrets:)``.
    static let secrets = [
        "/secrets/shop": SecretFile(lines: [newSecret, oldSecret]),
        "/secrets/hooks": SecretFile(lines: ["whsec_" + String(repeating: "A", count: 32)]),
    ]
    static let newSecret = "a-new-secret-of-the-shop-with-48-characters-000"
    static let oldSecret = "an-old-secret-of-the-shop-with-48-characters-00"

    /// The applications of a text, with the fields of the built-in flow.
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

    /// One application with the id `shop`.
    ///
    /// - Parameter lines: more keys, the first one in line 5.
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
