import Foundation
import HTTPTypes
import HummingbirdTesting
import TestSupport
import Testing

@testable import Accounts
@testable import accounts_api

@Suite("The pages of a brand", .freshDatabase)
struct BrandPageTests {
    private let folder: BrandFolder

    init() throws { folder = try BrandFolder() }

    /// Finds a path on the page with the pattern. Returns the path and the answer to a request for it. The request
    /// bypasses the OpenAPI document, which does not describe these paths.
    private static func load(
        _ pattern: Regex<(Substring, Substring)>,
        of page: PageVisitor.Page,
        from site: TestServer
    ) async throws -> (path: String, response: Response) {
        let path = String(try #require(page.html.firstMatch(of: pattern)).1)
        return (path, try await site.client.execute(uri: path, method: .get) { Response($0) })
    }

    @Test func `every page has the logo at its head and the links at its foot`() async throws {
        let brand = try folder.brand()
        try await TestServer.with(brand: brand) { site in
            let kim = PageVisitor(site)
            for path in ["/signup", "/sign-in", "/recovery", "/problems", "/nowhere", "/signup/email"] {
                let page = try await kim.open(path)
                let logos = page.html.matches(of: /<header class="brand"><picture><source .* alt="Tea"><\/picture>/)
                #expect(logos.count == 1, "\(path)")
                #expect(page.has("<a href=\"https://a.example/\">Help</a>"), "\(path)")
                #expect(page.has("<a href=\"mailto:p@a.example\">Privacy policy</a>"), "\(path)")
                #expect(page.html.matches(of: /<footer class="links">/).count == 1, "\(path)")
            }
            let korean = try await PageVisitor(site, language: "ko").open("/signup")
            #expect(korean.has("<a href=\"https://a.example/t\">이용약관</a>"))
            _ = try await kim.fill(through: "terms")
            _ = try await kim.post("/signup/commit")
            #expect(try await kim.open("/account").has("<footer class=\"links\">"))
        }
    }

    @Test(arguments: [true, false])
    func `pages tell people to contact the service only with a link`(hasLink: Bool) async throws {
        let brand = try hasLink ? folder.brand() : nil
        try await TestServer.with(brand: brand) { site in
            try await Browser(site).signUp(hasAuthenticator: true)
            let kim = PageVisitor(site)
            let link = "<a href=\"https://a.example/\">Help</a></p>"
            let factor = try await kim.post("/sign-in", "identifier=kim&password=a+pass+phrase+of+mine")
            #expect(factor.path == "/sign-in/second-factor")
            let recoveryCode = try await kim.open("/sign-in/recovery-code")
            for page in [factor, recoveryCode] {
                #expect(page.has("have a recovery code? Contact ") == hasLink && page.has(". \(link)") == hasLink)
            }
            let token = AddressToken(for: ID()).text
            let over = try await PageVisitor(site).post("/email-change/undo", "token=\(token)")
            #expect(over.status == 422 && over.has("expired or has already been used") && over.has(link) == hasLink)
        }
    }

    @Test func `a brand without logo and links keeps the name, and adds no foot`() async throws {
        let brand = try folder.brand("radius: 4px")
        try await TestServer.with(brand: brand) { site in
            let page = try await PageVisitor(site).open("/signup")
            #expect(page.has("<header class=\"brand\">Acme</header>") && !page.has("<footer class=\"links\"><a"))
            #expect(page.has("<link rel=\"icon\" href=\"data:,\">") && !page.has("theme-color"))
        }
    }

    @Test func `the files are served with their types, and browsers keep them forever`() async throws {
        let brand = try folder.brand()
        try await TestServer.with(brand: brand) { site in
            let page = try await PageVisitor(site).open("/signup")
            let files: [(pattern: Regex<(Substring, Substring)>, type: String, bytes: [UInt8])] = [
                (/<img class="logo" src="([^"]+)"/, "image/svg+xml", BrandFolder.svg),
                (/<source [^>]*srcset="([^"]+)"/, "image/png", BrandFolder.png),
                (/<link rel="icon" href="([^"]+)"/, "image/x-icon", BrandFolder.ico),
                (/<link rel="preload" href="([^"]+)"/, "font/woff2", BrandFolder.woff2),
            ]
            for (pattern, type, bytes) in files {
                let (path, response) = try await Self.load(pattern, of: page, from: site)
                #expect(path.wholeMatch(of: /\/assets\/[0-9a-f]{16}\/[a-z0-9-]+\.[a-z0-9]+/) != nil, "\(path)")
                #expect(response.status == 200 && response.bytes == bytes, "\(path)")
                #expect(response.headers[.contentType] == type)
                #expect(response.headers[.cacheControl] == "public, max-age=31536000, immutable")
                #expect(response.headers[.xContentTypeOptions] == "nosniff")
            }
            #expect(page.has("<meta name=\"theme-color\" content=\"#0d0f12\" media=\"(prefers-color-scheme: dark)\">"))
        }
    }

    @Test func `a logo cannot run a script, even if a browser opens it as a page`() async throws {
        let brand = try folder.brand("logo: {light: logo.svg}")
        try await TestServer.with(brand: brand) { site in
            let page = try await PageVisitor(site).open("/signup")
            let (_, logo) = try await Self.load(/<img class="logo" src="([^"]+)"/, of: page, from: site)
            #expect(
                logo.headers[.contentSecurityPolicy] == "default-src 'none'; style-src 'unsafe-inline'; sandbox"
            )
            #expect(page.has("alt=\"Acme\"") && !page.has("<source"))
        }
    }

    @Test func `pages may load fonts only if the brand has some`() async throws {
        for (yaml, hasFonts) in [(BrandFolder.full, true), ("logo: {light: logo.svg}", false)] {
            let brand = try folder.brand(yaml)
            try await TestServer.with(brand: brand) { site in
                let page = try await PageVisitor(site).open("/signup")
                let policy = try #require(page.headers[.contentSecurityPolicy])
                #expect(policy.contains("; font-src 'self';") == hasFonts)
                #expect(policy.contains("; img-src 'self' blob: data:;") && policy.contains("style-src 'self';"))
            }
        }
    }

    @Test func `the style of the brand follows the built-in style sheet in one file`() async throws {
        let brand = try folder.brand()
        try await TestServer.with(brand: brand) { site in
            let page = try await PageVisitor(site).open("/signup")
            let (path, styles) = try await Self.load(/<link rel="stylesheet" href="([^"]+)"/, of: page, from: site)
            #expect(path != Assets.builtIn.styles.path && styles.body.hasPrefix(Assets.builtIn.styleSheet))
            let own = styles.body.dropFirst(Assets.builtIn.styleSheet.count)
            for rule in [
                ":root { --accent: #0f766e; --on-accent: #ffffff; --radius: 0.5rem; --font: \"Example Sans\", system",
                "{ :root { --accent: #55eedd; --on-accent: #042f2e; } }", "font-weight: 100 900; font-style: italic;",
            ] { #expect(own.contains(rule), "\(rule)") }
            #expect(own.matches(of: /@font-face .*url\("\/assets\/[0-9a-f]{16}\/font-[12]\.woff2"\)/).count == 2)
        }
    }

    @Test func `a colour of the light mode does not become one of the dark mode`() throws {
        let style = BrandAssets(try folder.brand("colors: {light: {accent: '#0f766e'}}")).style
        #expect(style.contains("@media (prefers-color-scheme: dark) { :root { --accent: #8ab4ff; } }"))
    }
}
