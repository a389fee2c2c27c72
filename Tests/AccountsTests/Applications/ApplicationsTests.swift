import Foundation
import Testing

@testable import Accounts

@Suite("An applications file")
struct ApplicationsTests {
    private static let full = """
        issuer_audience: [wiki.example]
        applications:
          - id: shop
            name: {en: Example Shop, ko: 예시 상점}
            redirect_uris: [https://shop.example/callback, https://shop.example/other]
            post_logout_redirect_uris: [https://shop.example/]
            initiate_login_uri: https://shop.example/login
            secret_file: /secrets/shop
            claims: [email, username, display_name]
            id_token_signing_alg: RS256
            backchannel_logout_uri: https://shop.example/logout
            webhook:
              url: https://shop.example/hooks
              events: [account.created, account.erased]
              secret_file: /secrets/hooks
          - id: phone-app
            name: {en: App, ko: 앱}
            redirect_uris: ['com.example.app:/callback', 'http://127.0.0.1/callback']
        """

    @Test func `every key is read`() throws {
        let applications = try Applications.test(Self.full)
        #expect(applications.issuerAudience == ["wiki.example"] && applications.warnings.isEmpty)
        #expect(applications.all.map(\.id) == ["shop", "phone-app"])
        let shop = try #require(applications["shop"])
        #expect(shop.name(in: .english) == "Example Shop" && shop.name(in: .korean) == "예시 상점")
        #expect(shop.redirectURIs == ["https://shop.example/callback", "https://shop.example/other"])
        #expect(shop.postLogoutRedirectURIs == ["https://shop.example/"])
        #expect(shop.initiateLoginURI == "https://shop.example/login" && !shop.isPublic)
        #expect(shop.fieldNames == ["email", "username", "display_name"] && shop.signingAlgorithm == .rs256)
        #expect(shop.backchannelLogoutURI == "https://shop.example/logout")
        let webhook = try #require(shop.webhook)
        #expect(webhook.url == "https://shop.example/hooks" && webhook.secrets.count == 1)
        #expect(webhook.events == ["account.created", "account.erased"])
    }

    @Test func `missing keys have default values`() throws {
        let app = try #require(Applications.test(Self.full)["phone-app"])
        #expect(app.isPublic && app.fieldNames.isEmpty && app.signingAlgorithm == .es256)
        #expect(app.postLogoutRedirectURIs.isEmpty && app.initiateLoginURI == nil)
        #expect(app.backchannelLogoutURI == nil && app.webhook == nil)
    }

    @Test func `a public application may have a webhook and a back-channel logout`() throws {
        let app = try Applications.test(
            Applications.file(
                "backchannel_logout_uri: https://shop.example/logout",
                "webhook: {url: 'https://shop.example/hooks', events: [account.created], secret_file: /secrets/hooks}"
            )
        ).all[0]
        #expect(app.isPublic && app.webhook != nil && app.backchannelLogoutURI != nil)
    }

    @Test func `an application is found only by its exact id`() throws {
        let applications = try Applications.test(Self.full)
        for id in ["", "Shop", "shop ", "phone_app", String(repeating: "a", count: 1 << 20)] {
            #expect(applications[id] == nil)
        }
    }

    @Test func `a file may have no applications`() throws {
        #expect(try Applications.test("applications: []").all.isEmpty)
    }

    // MARK: Mistakes

    private static func mistakes(in yaml: String, publicURL: String = "https://accounts.example") -> [String] {
        do {
            _ = try Applications.test(yaml, publicURL: publicURL)
            return []
        } catch {
            return (error as? ApplicationsFileError)?.mistakes.map(\.description) ?? ["\(error)"]
        }
    }

    @Test(arguments: [
        ("color: red", "5: unknown key \"color\""),
        ("secret: hunter2", "5: unknown key \"secret\""),
        ("claims: [nothing]", "5: the flow default@1 has no field \"nothing\""),
        ("claims: [password]", "5: a field of kind \"password\" cannot be a claim"),
        ("claims: [confirmation]", "5: a field of kind \"confirmation\" cannot be a claim"),
        ("claims: [code]", "5: a field of kind \"code\" cannot be a claim"),
        ("claims: [totp]", "5: a field of kind \"totp\" cannot be a claim"),
        ("claims: [terms]", "5: a field of kind \"consent\" cannot be a claim"),
        ("claims: [photo]", "5: a field of kind \"image\" cannot be a claim"),
        ("claims: [email, email]", "5: \"email\" appears twice in \"claims\""),
        ("claims: email", "5: \"claims\" must be a list with at most 100 entries"),
        ("id_token_signing_alg: none", "5: \"id_token_signing_alg\" must be one of ES256, RS256, not \"none\""),
        ("id_token_signing_alg: HS256", "5: \"id_token_signing_alg\" must be one of ES256, RS256, not \"HS256\""),
        (
            "initiate_login_uri: /login",
            "5: \"/login\" must be absolute, such as https://app.example/callback"
        ),
        (
            "backchannel_logout_uri: http://shop.example/logout",
            "5: \"http://shop.example/logout\" must begin with https://; http:// needs the host 127.0.0.1 or [::1]"
        ),
        (
            "post_logout_redirect_uris: ['https://*.shop.example/']",
            "5: \"https://*.shop.example/\" must not have a wildcard; list every URI"
        ),
        ("secret_file: /secrets/none", "5: cannot read the secrets in \"/secrets/none\": no such file"),
        ("webhook: yes", "5: expected a mapping"),
    ])
    func `a mistake is found in its line`(line: String, mistake: String) {
        #expect(Self.mistakes(in: Applications.file(line)) == ["apps.yaml:\(mistake)"])
    }

    @Test(arguments: [
        ("", "1: the file is empty or has only comments"), ("[]", "1: expected a mapping"),
        ("applications: {}", "1: \"applications\" must be a list with at most 1000 entries"),
        ("issuer_audience: []", "1: \"applications\" must be a list with at most 1000 entries"),
        ("applications: []\nclients: []", "2: unknown key \"clients\""),
        ("applications: []\napplications: []", "1: \"applications\" appears twice"),
        ("applications: [", "1: not valid YAML: "),
        ("applications:\n  - shop", "2: expected a mapping"),
    ])
    func `a file without a valid list of applications is refused`(yaml: String, mistake: String) {
        let mistakes = Self.mistakes(in: yaml)
        #expect(mistakes.count == 1)
        // The line is not compared, because libyaml chooses it for a file that is not valid YAML.
        let reason = mistake.drop { $0 != " " }
        #expect(mistakes.allSatisfy { $0.hasPrefix("apps.yaml") && $0.contains(reason) }, "\(mistakes)")
    }

    @Test(arguments: ["Shop", "my_shop", "my shop", "shop.example", "상점", String(repeating: "a", count: 65)])
    func `an id has only lower-case letters, digits and dashes`(id: String) {
        let yaml = Applications.file().replacing("id: shop", with: "id: \(id)")
        let mistake = "apps.yaml:2: invalid id \"\(id)\": use 1 to 64 characters of a-z, 0-9 and -"
        #expect(Self.mistakes(in: yaml) == [mistake])
    }

    @Test func `two applications cannot have the same id`() {
        let yaml = Applications.file() + Applications.file().replacing("applications:\n", with: "")
        #expect(Self.mistakes(in: yaml) == ["apps.yaml:5: an application with the id \"shop\" already exists"])
    }

    @Test func `a name has one text for each language of the flow`() {
        let file = Applications.file()
        for (name, mistake) in [
            ("{en: Shop}", "\"name\" has no text for the language \"ko\""),
            ("{en: Shop, ko: 상점, fr: Boutique}", "unknown key \"fr\""),
            ("Shop", "\"name\" must map each language to a text, such as {en: Name}"),
        ] {
            let yaml = file.replacing("{en: Shop, ko: 상점}", with: name)
            #expect(Self.mistakes(in: yaml) == ["apps.yaml:3: \(mistake)"])
        }
    }

    @Test(arguments: ["[]", "''", "['']", "[{}]"])
    func `an application needs a redirect URI`(list: String) {
        let mistakes = Self.mistakes(in: Applications.file(redirectURIs: list))
        #expect(mistakes.count == 1 && mistakes.allSatisfy { $0.hasPrefix("apps.yaml:4: ") }, "\(mistakes)")
    }

    @Test func `a webhook needs a URL, events that exist, and secrets`() {
        let yaml = Applications.file("webhook:", "  events: [account.created, account.deleted]", "  retries: 3")
        let mistakes = Self.mistakes(in: yaml)
        #expect(mistakes.count == 4)
        for part in [
            ":6: \"url\" is missing", ":6: \"secret_file\" is missing",
            ":6: unknown event \"account.deleted\"; the events",
            ":7: unknown key \"retries\"",
        ] {
            #expect(mistakes.contains { $0.contains(part) }, "\(part): \(mistakes)")
        }
    }

    @Test func `all mistakes of all applications are found, in the order of their lines`() {
        let yaml = """
            applications:
              - id: Shop
                name: {en: Shop, ko: 상점}
                redirect_uris: [/callback, 'https://shop.example/#x']
                color: red
              - id: wiki
                claims: [password, nothing]
              - id: wiki
                name: {en: Wiki, ko: 위키}
                redirect_uris: ['https://wiki.example/callback']
            """
        let lines = Self.mistakes(in: yaml).compactMap { $0.split(separator: ":").dropFirst().first }
        #expect(lines == ["2", "4", "4", "5", "6", "6", "7", "7", "8"])
    }

    @Test func `http://localhost can be registered only if the service's own URL is http`() {
        let yaml = Applications.file(redirectURIs: "['http://localhost:3000/callback']")
        #expect(Self.mistakes(in: yaml, publicURL: "http://localhost:8080") == [])
        #expect(Self.mistakes(in: yaml).count == 1)
    }

    @Test func `only public applications can register a URI with the scheme of an app`() {
        let yaml = Applications.file(redirectURIs: "['com.example.app:/callback']")
        #expect(Self.mistakes(in: yaml) == [])
        let confidential = Applications.file(
            redirectURIs: "['com.example.app:/callback']",
            "secret_file: /secrets/shop"
        )
        #expect(Self.mistakes(in: confidential).count == 1)
    }

    @Test func `a file has at most 1000 applications`() {
        let one = "\n  - {id: app-0, name: {en: A, ko: 가}, redirect_uris: ['https://a.example/']}"
        let thousand = (1...1000).map { one.replacing("app-0", with: "app-\($0)") }.joined()
        #expect(Self.mistakes(in: "applications:" + thousand) == [])
        #expect(
            Self.mistakes(in: "applications:" + thousand + one) == [
                "apps.yaml:1: \"applications\" must be a list with at most 1000 entries"
            ]
        )
    }

    @Test func `in a flow with one language, a name can be a plain text`() throws {
        let flow = try Flow(
            yaml: """
                flow: test
                version: 1
                steps: [{name: a, title: A, fields: [{name: drink, kind: text, label: Drink}]}]
                """,
            file: "flow.yaml"
        )
        let yaml = "applications: [{id: a, name: Shop, redirect_uris: ['https://a.example/'], claims: [drink]}]"
        let applications = try Applications.parse(yaml, file: "apps.yaml", flow: flow, publicURL: "https://b.example")
        #expect(applications.all[0].name(in: .english) == "Shop" && applications.all[0].name(in: .korean) == "Shop")
    }

    @Test func `a file over 1 MiB is too large, even if the first MiB ends within a character`() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "applications-\(UUID()).yaml")
        try Data(String(repeating: "ä", count: 1 << 20).utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let error = #expect(throws: YAMLFileError.self) { try YAMLText.read(file.path) }
        #expect(error?.description == "\(file.path): the file is larger than 1 MiB")
    }
}
