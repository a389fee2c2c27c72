import Accounts
import Foundation
import TestSupport
import Testing

@Suite("The applications commands", .timeLimit(.minutes(30)))
struct ApplicationCommandTests {
    private static let valid = """
        applications:
          - id: shop
            name: {en: Example Shop, ko: 예시 상점}
            redirect_uris: ['https://shop.example/callback']
            secret_file: secret
            claims: [email, username]
            webhook: {url: 'https://shop.example/hooks', events: [account.created], secret_file: hooks}

        """
    private static let invalid = valid.replacing("id: shop", with: "id: Shop").replacing("email", with: "password")
    private static let secret = "a-secret-of-the-shop-with-32-characters"
    private static let hooks = "whsec_" + Data(repeating: 7, count: 32).base64EncodedString()

    /// Writes an applications file, and the secrets beside it.
    private static func withApplications(
        _ text: String,
        mode: mode_t = 0o600,
        _ body: (String) async throws -> Void
    ) async throws {
        try await withFile(text, named: "apps.yaml") { file in
            let folder = URL(filePath: file).deletingLastPathComponent()
            for (name, content) in ["secret": secret, "hooks": hooks] {
                let path = folder.appending(path: name)
                try Data(content.utf8).write(to: path)
                chmod(path.path, mode)
            }
            try await body(file)
        }
    }

    @Test func `applications check reports a valid file`() async throws {
        try await Self.withApplications(Self.valid) { file in
            let run = try await CommandRun.of("applications", "check", file)
            #expect(run.status == 0 && run.output == "\(file) is valid: 1 application\n" && run.errorOutput.isEmpty)
            let json = try await CommandRun.of("applications", "check", "--json", settings: ["APPLICATIONS_FILE": file])
            #expect(json.status == 0)
            #expect(json.output == #"{"valid":true,"applications":1,"warnings":[]}"# + "\n")
        }
    }

    @Test func `applications check reports all mistakes with their lines`() async throws {
        try await Self.withApplications(Self.invalid) { file in
            let run = try await CommandRun.of("applications", "check", file)
            let reasons = [
                (2, "invalid id \"Shop\": use 1 to 64 characters of a-z, 0-9 and -"),
                (6, "a field of kind \"password\" cannot be a claim"),
            ]
            #expect(run.status == 1 && run.output.isEmpty)
            #expect(run.errorOutput == reasons.map { "\(file):\($0.0): \($0.1)\n" }.joined())
            let json = try await CommandRun.of("applications", "check", file, "--json")
            let mistakes = reasons.map { line, reason -> JSON in
                ["file": .string(file), "line": .integer(line), "reason": .string(reason)]
            }
            #expect(json.status == 1 && json.errorOutput.isEmpty)
            let verdict = try json.json
            #expect(verdict == ["valid": false, "mistakes": .array(mistakes)])
        }
    }

    @Test func `applications list reports all mistakes as those of the setting`() async throws {
        try await Self.withApplications(Self.invalid) { file in
            let run = try await CommandRun.of("applications", "list", "--applications-file", file)
            #expect(run.status == 2 && run.output.isEmpty)
            #expect(run.errorOutput.hasPrefix("APPLICATIONS_FILE: \(file):2: invalid id \"Shop\""))
            #expect(run.errorOutput.contains("\nAPPLICATIONS_FILE: \(file):6: a field of kind"))
        }
    }

    @Test func `applications check warns about secret files that every user can read`() async throws {
        try await Self.withApplications(Self.valid, mode: 0o644) { file in
            let run = try await CommandRun.of("applications", "check", file)
            #expect(run.status == 0 && run.errorOutput.split(separator: "\n").count == 2)
            #expect(run.errorOutput.hasPrefix("\(file):5: the mode of "))
            #expect(!run.errorOutput.contains(Self.secret))
        }
    }

    @Test func `claims must be fields of the flow, and an https PUBLIC_URL does not allow http://localhost`()
        async throws
    {
        let local = """
            applications:
              - {id: a, name: {en: A, ko: 가}, redirect_uris: ['http://localhost:3000/'], claims: [email]}
            """
        try await withFile(local, named: "apps.yaml") { file in
            #expect(try await CommandRun.of("applications", "check", file).status == 0)
            let production = try await CommandRun.of(
                "applications",
                "check",
                file,
                "--public-url",
                "https://accounts.example"
            )
            #expect(production.status == 1 && production.errorOutput.contains("must begin with https://"))
            let flow = "flow: t\nversion: 1\nsteps: [{name: a, title: A, fields: [{name: b, kind: text, label: B}]}]"
            try await withFile(flow) { flow in
                let other = try await CommandRun.of("applications", "check", file, "--flow-file", flow)
                #expect(other.status == 1 && other.errorOutput.contains("the flow t@1 has no field \"email\""))
            }
        }
    }

    @Test func `without a file, the commands name the setting; an unreadable file is named`() async throws {
        for command in ["check", "list"] {
            let run = try await CommandRun.of("applications", command)
            #expect(run.status == 2 && run.errorOutput == "no applications file: pass one, or set APPLICATIONS_FILE\n")
        }
        let nowhere = try await CommandRun.of("applications", "check", "/nowhere/apps.yaml")
        #expect(nowhere.status == 1)
        #expect(nowhere.errorOutput == "/nowhere/apps.yaml: cannot read the file: No such file or directory\n")
    }

    @Test func `applications list prints no secrets; only its JSON has all other settings`() async throws {
        try await Self.withApplications(Self.valid) { file in
            let run = try await CommandRun.of("applications", "list", settings: ["APPLICATIONS_FILE": file])
            #expect(run.status == 0)
            #expect(
                run.output == """
                    ID    NAME          CLIENT        CLAIMS           EVENTS           REDIRECT URIS
                    shop  Example Shop  confidential  email, username  account.created  https://shop.example/callback

                    """
            )
            let json = try await CommandRun.of("applications", "list", "--applications-file", file, "--json")
            let expected: JSON = [
                [
                    "id": "shop", "name": ["en": "Example Shop", "ko": "예시 상점"], "client": "confidential",
                    "redirect_uris": ["https://shop.example/callback"], "post_logout_redirect_uris": [],
                    "initiate_login_uri": nil, "claims": ["email", "username"], "id_token_signing_alg": "ES256",
                    "backchannel_logout_uri": nil,
                    "webhook": ["url": "https://shop.example/hooks", "events": ["account.created"], "public_keys": []],
                ]
            ]
            let listed = try json.json
            #expect(listed == expected)
            let chosen = try await CommandRun.of(
                ["applications", "list", "--columns", "id,redirect-uris"],
                settings: ["APPLICATIONS_FILE": file]
            )
            #expect(chosen.output == "ID    REDIRECT URIS\nshop  https://shop.example/callback\n")
            let fields = try await CommandRun.of(
                ["applications", "list", "--json", "--fields", "client,id"],
                settings: ["APPLICATIONS_FILE": file]
            )
            #expect(fields.output == #"[{"client":"confidential","id":"shop"}]"# + "\n")
            for output in [run.output, json.output] {
                #expect(!output.contains(Self.secret) && !output.contains("whsec"))
            }
        }
    }
}
