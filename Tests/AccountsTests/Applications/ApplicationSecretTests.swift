import Crypto
import Foundation
import Testing

@testable import Accounts

@Suite("The secrets of an application")
struct ApplicationSecretTests {
    private static let file = Applications.file("secret_file: /secrets/shop")

    private static func mistakes(_ lines: [String], in yaml: String = file) -> [String] {
        let secrets = ["/secrets/shop": SecretFile(lines: lines), "/secrets/hooks": SecretFile(lines: lines)]
        do {
            _ = try Applications.test(yaml, secrets: secrets)
            return []
        } catch {
            return (error as? ApplicationsFileError)?.mistakes.map(\.description) ?? ["\(error)"]
        }
    }

    @Test func `only the new and the old secret are accepted`() throws {
        let app = try Applications.test(Self.file).all[0]
        for secret in [Applications.newSecret, Applications.oldSecret] {
            #expect(app.accepts(secret: secret))
            let isAccepted = app.accepts(secret: Secret(text: secret))
            #expect(isAccepted)
            #expect(!app.accepts(secret: secret + "\n") && !app.accepts(secret: String(secret.dropLast())))
        }
        #expect(!app.accepts(secret: "") && !app.accepts(secret: Applications.newSecret + Applications.oldSecret))
    }

    @Test func `a public application has no secret`() throws {
        let app = try Applications.test(Applications.file()).all[0]
        #expect(!app.accepts(secret: "") && !app.accepts(secret: Applications.newSecret))
    }

    @Test(arguments: [
        [], [String(repeating: "a", count: 31)], [String(repeating: "a", count: 257)],
        ["hunter2 hunter2 hunter2 hunter2 hunter2"], ["비밀비밀비밀비밀비밀비밀비밀비밀비밀비밀비밀비밀"],
        [Applications.newSecret, "short"], Array(repeating: Applications.newSecret, count: 3),
    ])
    func `a secret has at least 32 visible characters, and there are at most two`(lines: [String]) {
        let mistakes = Self.mistakes(lines)
        #expect(mistakes.count == 1)
        #expect(
            mistakes.allSatisfy { $0.hasPrefix("apps.yaml:5: ") && !$0.contains("hunter2") && !$0.contains("short") }
        )
    }

    @Test(arguments: [
        "", "whsec_", "whsec_AAAA", "whsec_" + Data(count: 23).base64EncodedString(),
        "whsec_" + Data(count: 65).base64EncodedString(), "whsec_" + String(repeating: "!", count: 32),
        "whsk_" + Data(count: 31).base64EncodedString(), "whpk_" + Data(count: 32).base64EncodedString(),
        Data(count: 32).base64EncodedString(), "WHSEC_" + Data(count: 32).base64EncodedString(),
    ])
    func `a text in another form is refused as the secret of a webhook`(text: String) {
        #expect(WebhookSecret(text) == nil)
        let yaml = Applications.file(
            "webhook: {url: 'https://shop.example/', events: [account.created], secret_file: /secrets/hooks}"
        )
        #expect(Self.mistakes([text], in: yaml).count == 1)
    }

    /// The values are an example of the Standard Webhooks libraries:
    /// https://github.com/standard-webhooks/standard-webhooks
    @Test func `HMAC signs as the reference libraries do`() throws {
        let secret = try #require(WebhookSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"))
        let message = "msg_p5jXN8AQM9LWM0D4loKWxJek.1614265330.{\"test\": 2432232314}"
        #expect(secret.signature(of: Array(message.utf8)) == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
        #expect(secret.publicKey == nil)
    }

    /// The keys and the message are those of RFC 8032 §7.1, test 2.
    @Test func `Ed25519 signs with the seed, and receivers verify with the public key`() throws {
        func bytes(_ hex: String) -> Data {
            Data(stride(from: 0, to: hex.utf8.count, by: 2).map { UInt8(hex.dropFirst($0).prefix(2), radix: 16)! })
        }
        let seed = bytes("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb")
        let publicKey = bytes("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c")
        let secret = try #require(WebhookSecret("whsk_" + seed.base64EncodedString()))
        #expect(secret.publicKey == "whpk_" + publicKey.base64EncodedString())
        let signature = secret.signature(of: [0x72])
        #expect(signature.hasPrefix("v1a,"))
        let decoded = try #require(Data(base64Encoded: String(signature.dropFirst(4))))
        let key = try Curve25519.Signing.PublicKey(rawRepresentation: publicKey)
        #expect(key.isValidSignature(decoded, for: [0x72]))
    }

    // MARK: Files

    private static func withFolder(_ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "secrets-\(UUID())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try body(folder)
    }

    @Test func `a file has one secret in each line`() throws {
        try Self.withFolder { folder in
            let path = "\(folder)/secret"
            try Data("new\r\n\n old \n".utf8).write(to: URL(filePath: path))
            chmod(path, 0o600)
            let file = try SecretFile(contentsOf: path)
            #expect(file.lines == ["new", "old"] && !file.isReadableByAll)
            chmod(path, 0o644)
            #expect(try SecretFile(contentsOf: path).isReadableByAll)
        }
    }

    @Test func `only a text file of at most 4 KiB can be read, and a pipe does not block`() throws {
        try Self.withFolder { folder in
            try Data(count: 4097).write(to: URL(filePath: "\(folder)/large"))
            try Data([0xFF]).write(to: URL(filePath: "\(folder)/binary"))
            #expect(mkfifo("\(folder)/pipe", 0o600) == 0)
            for path in ["large", "binary", "pipe", "missing", "."].map({ "\(folder)/\($0)" }) {
                #expect(throws: SecretFile.Unreadable.self) { try SecretFile(contentsOf: path) }
            }
        }
    }

    @Test func `a path is relative to the applications file, and a file that all can read causes a warning`() throws {
        try Self.withFolder { folder in
            let path = "\(folder)/apps.yaml"
            try Data(Applications.file("secret_file: secret").utf8).write(to: URL(filePath: path))
            try Data(Applications.newSecret.utf8).write(to: URL(filePath: "\(folder)/secret"))
            chmod("\(folder)/secret", 0o644)
            let file = try ApplicationsFile(path: path, flow: .standard(), publicURL: "https://accounts.example")
            let applications = try file.read()
            #expect(applications.all[0].accepts(secret: Applications.newSecret))
            #expect(
                applications.warnings.map(\.description) == [
                    "\(path):5: the mode of \"secret\" lets every user of this machine read its secrets; use mode 0400"
                ]
            )
        }
    }

    @Test func `an applications file has at most 1 MiB`() throws {
        try Self.withFolder { folder in
            let path = "\(folder)/apps.yaml"
            let text = Applications.file()
            let padding = String(repeating: "#", count: YAMLText.maximumBytes - text.utf8.count)
            let file = try ApplicationsFile(path: path, flow: .standard(), publicURL: "https://accounts.example")
            try Data((text + padding).utf8).write(to: URL(filePath: path))
            #expect(try file.read().all.count == 1)
            try Data((text + padding + "#").utf8).write(to: URL(filePath: path))
            #expect(throws: ApplicationsFileError.self) { try file.read() }
        }
    }
}
