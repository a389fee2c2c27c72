import Accounts
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import accounts_api

@Suite("The authenticator step", .freshDatabase)
struct AuthenticatorTests {
    @Test(arguments: TestServer.Mode.allCases)
    func `the secret is shown until a code confirms it, and the recovery codes once`(mode: TestServer.Mode) async throws
    {
        try await TestServer.with(mode) { site in
            let kim = site.visitor()
            try await kim.start()
            #expect(try await kim.send(.get, "/signup/totp").slug == "step-locked")
            try await kim.fill(through: "contact")

            let step = try await kim.send(.get, "/signup/totp")
            let secret = try #require(step.json["secret"]?.string)
            let uri = try #require(step.json["otpauth_uri"]?.string)
            #expect(uri.hasPrefix("otpauth://totp/Acme:kim%40example.com?secret=\(secret)&issuer=Acme&"))
            guard case .integer(let remaining)? = step.json["seconds_remaining"] else {
                Issue.record("no seconds: \(step.body)")
                return
            }
            #expect((1...30).contains(remaining))
            #expect(step.json["server_time"] != nil)
            let picture = try #require(step.json["qr_svg"]?.string)
            #expect(try await Self.decodeQRCode(picture) == "QR-Code:\(uri)")

            let wrong = try await kim.put("totp", ["totp": "12345"])
            #expect(wrong.refusals == ["totp:bad_format"])
            let code = kim.code(of: step)
            let enrolled = try await kim.put("totp", ["totp": .string(code)])
            #expect(enrolled.strings("recovery_codes").count == 10)
            #expect(enrolled.json["values"]?["totp"] == ["set": true])
            #expect(enrolled.nextStep == "terms")

            let after = try await kim.send(.get, "/signup/totp")
            #expect(after.json["state"] == "complete")
            #expect(after.json["secret"] == nil && after.json["otpauth_uri"] == nil && after.json["qr_svg"] == nil)
            #expect(try await kim.put("totp", ["totp": .string(code)]).json["recovery_codes"] == nil)
            let other = try await kim.put("totp", ["totp": .string(code == "000000" ? "000001" : "000000")])
            #expect(other.status == 422 && other.refusals == ["totp:code_wrong"])
            try await kim.put("terms", ["terms": true])
            let committed = try await kim.commit()
            #expect(committed.status == 201 && committed.json["account"]?["totp"] == nil)
        }
    }

    @Test func `a form submits the code, and an empty form skips the step`() async throws {
        try await TestServer.with { site in
            let kim = site.visitor(.bearer)
            try await kim.start()
            try await kim.fill(through: "contact")
            let form: HTTPFields = [.contentType: "application/x-www-form-urlencoded"]
            let skipped = try await kim.send(.post, "/signup/totp", "totp=", headers: form)
            #expect(skipped.status == 200 && skipped.nextStep == "terms")
            let code = kim.code(of: try await kim.send(.get, "/signup/totp"))
            let spaced = "totp=\(code.prefix(3))+\(code.suffix(3))"
            let enrolled = try await kim.send(.post, "/signup/totp", spaced, headers: form)
            #expect(enrolled.json["recovery_codes"] != nil)
        }
    }

    /// Returns the text that another program reads from the QR code.
    private static func decodeQRCode(_ svg: String) async throws -> String {
        let size = try #require(svg.firstMatch(of: #/viewBox="0 0 ([0-9]+) /#).flatMap { Int($0.1) })
        var isDark = [[Bool]](repeating: .init(repeating: false, count: size), count: size)
        for run in svg.matches(of: /M([0-9]+) ([0-9]+)h([0-9]+)v1H([0-9]+)z/) where run.1 == run.4 {
            for x in Int(run.1)!..<Int(run.1)! + Int(run.3)! { isDark[Int(run.2)!][x] = true }
        }
        // The picture in plain PBM, with eight by eight pixels for each module.
        let rows = isDark.flatMap { row in
            Array(repeating: row.map { String(repeating: $0 ? "1" : "0", count: 8) }.joined(), count: 8)
        }
        let picture = "P1\n\(size * 8) \(size * 8)\n\(rows.joined(separator: "\n"))\n"
        return try await withFile(picture, named: "code.pbm") { path in
            try await onThread {
                let reader = Process()
                reader.executableURL = URL(filePath: "/usr/bin/zbarimg")
                reader.arguments = ["--quiet", path]
                let output = Pipe()
                reader.standardOutput = output
                try reader.run()
                let bytes = output.fileHandleForReading.readDataToEndOfFile()
                reader.waitUntilExit()
                return String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .newlines)
            }
        }
    }
}

extension Visitor {
    /// The code that an app which was set up with this step shows now. It is accepted for at least 30 seconds, so ask for
    /// it immediately before it is submitted.
    func code(of step: Response) -> String {
        let secret = step.json["secret"]?.string ?? ""
        return TOTP.code(secret.base32Bytes, step: TOTP.timeStep(at: Date()))
    }
}
