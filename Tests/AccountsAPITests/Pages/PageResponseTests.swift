import Accounts
import Foundation
import HTTPTypes
import HummingbirdTesting
import TestSupport
import Testing

@testable import accounts_api

@Suite("What browsers and programs get for a page", .freshDatabase)
struct PageResponseTests {
    @Test func `search engines list the first page only, whose title names the service once`() async throws {
        try await TestServer.with { site in
            let kim = PageVisitor(site)
            let first = try await kim.open("/signup")
            #expect(first.has("? · Acme</title>") && first.has("<p>Sign up for Acme</p>") && !first.has("noindex"))
            #expect(first.has("<meta name=\"description\" content=\"Create your account in a few steps.\">"))
            let step = try await kim.post("/signup", "locale=en")
            #expect(step.has(" · Acme</title>") && step.has("<meta name=\"robots\" content=\"noindex\">"))
            #expect(try await kim.open("/nowhere").has("noindex"))
            #expect(try await !kim.open("/sign-in").has("noindex"))
        }
    }

    @Test func `a program that accepts anything, such as a link preview, gets JSON`() async throws {
        try await TestServer.with { site in
            let preview = try await site.send(.get, "/signup", bytes: nil, [.accept: "*/*"])
            #expect(preview.status == 401 && preview.headers[.contentType] == "application/problem+json")
        }
    }

    @Test func `every page contains and allows only the script and style of the service`() async throws {
        try await TestServer.with { site in
            let kim = PageVisitor(site)
            var pages = [try await kim.open("/signup")]
            for step in ["email", "code", "password", "profile", "contact", "totp", "terms"] {
                pages.append(try await kim.fill(through: step, email: "\(step)@example.com"))
                _ = try await kim.post("/signup/cancel")
            }
            var nonces: Set<Substring> = []
            for page in pages {
                let policy = try #require(page.headers[.contentSecurityPolicy])
                let nonce = try #require(policy.firstMatch(of: /script-src 'nonce-([A-Za-z0-9+\/]{24})'/)).1
                #expect(nonces.insert(nonce).inserted)
                #expect(policy.hasPrefix("default-src 'none'; ") && policy.hasSuffix("; frame-ancestors 'none'"))
                #expect(
                    page.html.matches(of: /<script/).count == 1 && page.has("<script nonce=\"\(nonce)\" src=\"/assets/")
                )
                #expect(
                    page.html.firstMatch(of: /<style|\sstyle=|\son[a-z]+=|javascript:|https?:\/\/(?!www\.w3\.org)/)
                        == nil
                )
                #expect(page.headers[.cacheControl] == "no-store")
            }
        }
    }

    @Test func `browsers may cache style and script until they change`() async throws {
        try await TestServer.with { site in
            let page = try await PageVisitor(site).open("/signup")
            for (kind, pattern) in [
                ("css", /href="(\/assets\/[0-9a-f]{16}\/signup\.css)"/),
                ("javascript", /src="(\/assets\/[0-9a-f]{16}\/signup\.js)"/),
            ] {
                let path = try #require(page.html.firstMatch(of: pattern)).1
                let response = try await site.client.execute(uri: String(path), method: .get) { Response($0) }
                #expect(response.status == 200 && response.headers[.contentType] == "text/\(kind); charset=utf-8")
                #expect(response.headers[.cacheControl] == "public, max-age=31536000, immutable")
            }
        }
    }

    @Test func `style and script are compressed for a client that takes gzip`() async throws {
        try await TestServer.with { site in
            for asset in [Assets.builtIn.styles, Assets.builtIn.script] {
                func get(_ encodings: String?) async throws -> Response {
                    let headers: HTTPFields = encodings.map { [.acceptEncoding: $0] } ?? [:]
                    return try await site.client.execute(uri: asset.path, method: .get, headers: headers) {
                        Response($0)
                    }
                }
                let plain = try await get(nil)
                for encodings in ["gzip", "br;q=1.0, gzip;q=0.8", "GZIP", "*", "x-gzip"] {
                    let compressed = try await get(encodings)
                    #expect(compressed.headers[.contentEncoding] == "gzip")
                    #expect(compressed.headers[.contentLength] == "\(compressed.bytes.count)")
                    #expect(try gunzip(compressed.bytes) == plain.bytes)
                    #expect(compressed.bytes.count < plain.bytes.count / 2)
                    #expect(try #require(compressed.headers[.vary]).contains("Accept-Encoding"))
                }
                for encodings in ["", "identity", "gzip;q=0", "br", "*;q=0", "gzip;q=0, *"] {
                    let response = try await get(encodings)
                    #expect(response.headers[.contentEncoding] == nil && response.bytes == plain.bytes)
                    #expect(try #require(response.headers[.vary]).contains("Accept-Encoding"))
                }
            }
        }
    }

    @Test func `a client that does not prefer HTML gets JSON`() async throws {
        try await TestServer.with { site in
            let kim = site.visitor()
            for accept in ["application/json", "*/*", "text/html;q=0.9, application/json", "text/html, */*"] {
                let response = try await kim.send(.get, "/signup/schema", headers: [.accept: accept])
                #expect(response.json["flow"] == "default@1")
            }
            #expect(try await kim.send(.post, "/signup", headers: [.accept: "*/*"]).status == 201)
        }
    }
}

/// Decompresses with the program gzip.
private func gunzip(_ bytes: [UInt8]) throws -> [UInt8] {
    let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).gz")
    try Data(bytes).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(filePath: "/bin/gzip")
    process.arguments = ["--decompress", "--stdout", file.path]
    process.standardOutput = output
    try process.run()
    let decompressed = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    return Array(decompressed)
}
