import Accounts
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import accounts_api

/// A language that only a file of texts adds: examples/texts/ja.yaml.
@Suite("A third language", .freshDatabase)
struct JapaneseTests {
    private static let file = Repository.root.appending(path: "examples/texts/ja.yaml").path

    private static func with(_ body: @escaping @Sendable (TestServer) async throws -> Void) async throws {
        let languages = try TextsFile(contentsOf: file).languages
        try await TestServer.with(languages: languages, hasApplications: true, body)
    }

    @Test func `pages, messages, mail and dates are in the language that the browser prefers`() async throws {
        try await Self.with { site in
            let kim = PageVisitor(site, language: "ja-JP,ja;q=0.9,en;q=0.8")
            let start = try await kim.open("/signup")
            #expect(start.headers[.contentLanguage] == "ja" && start.has("<html lang=\"ja\" dir=\"ltr\">"))
            #expect(start.has("<h1>メールアドレスの入力</h1>") && start.has("<p>Acmeの新規登録</p>"))
            let address = try await kim.post("/signup", "locale=ja")
            #expect(address.has("<h1>メールアドレスの入力</h1>") && address.has("メールアドレス</label>"))
            let refused = try await kim.post("/signup/email", "email=kim")
            #expect(refused.has("メールアドレスを正しい形式で入力してください（例：name@example.com）。"))
            #expect(try await kim.post("/signup/email", "email=kim%40example.com").has("次のメールアドレスにメールを送信しました。"))
            let code = try await site.service.readCode(for: "kim@example.com")
            let mail = try #require(site.service.mailbox.mails(to: "kim@example.com").last)
            #expect(mail.subject == "【Acme】認証コードのお知らせ" && mail.text.contains("\n\n\(code)\n\n"))
            #expect(mail.text.contains("このコードの有効期間は10分です。"))
            #expect(try await kim.post("/signup/code", "code=\(code)").has("<h1>パスワードの設定</h1>"))
            let short = try await kim.post("/signup/password", "password=short&confirmation=short")
            #expect(short.has("15文字以上で入力してください。"))
            _ = try await kim.post(
                "/signup/password",
                "password=a+pass+phrase+of+mine&confirmation=a+pass+phrase+of+mine"
            )
            _ = try await kim.post("/signup/profile", "username=kim&display_name=Kim&introduction=")
            _ = try await kim.post("/signup/contact", "phone=010-1234-5678&birth_date=2001-02-28")
            _ = try await kim.post("/signup/totp", "")
            let review = try await kim.post("/signup/terms", "terms=on")
            #expect(review.has("入力内容の確認") && review.has("2001年2月28日") && review.has("生年月日"))
            #expect(try await kim.post("/signup/commit").has("アカウントを作成しました"))
            try await site.service.deliver()
            #expect(site.service.mailbox.mails(to: "kim@example.com").last?.subject == "【Acme】ご登録ありがとうございます")
            let locale = try DatabaseSession().query("SELECT locale FROM accounts")
            #expect(try locale.only.decode(String.self) == "ja")
        }
    }

    @Test func `programs and applications can ask for it`() async throws {
        try await Self.with { site in
            let metadata = try await site.send(.get, "/.well-known/openid-configuration")
            #expect(metadata.strings("ui_locales_supported") == ["en", "ko", "ja"])
            let kim = site.visitor(.bearer, headers: [.acceptLanguage: "ja"])
            let schema = try await kim.send(.get, "/signup/schema")
            #expect(schema.json["language"] == "ja" && schema.json["languages"] == ["en", "ko", "ja"])
            let problem = try await kim.send(.post, "/session", ["identifier": "", "password": ""])
            #expect(problem.status == 422 && problem.body.contains("を入力してください。"))
        }
    }

    @Test func `a text is never HTML`() async throws {
        let yaml = "languages: {en: {words: {next: '<b>Go</b> & \"on\"'}, pages: {sign-up: '<i>{service}</i>'}}}"
        let languages = try TextsFile(yaml, file: "texts.yaml").languages
        try await TestServer.with(languages: languages) { site in
            let page = try await PageVisitor(site).open("/signup")
            #expect(page.has("&lt;b&gt;Go&lt;/b&gt; &amp; ") && page.has("<p>&lt;i&gt;Acme&lt;/i&gt;</p>"))
            #expect(!page.has("<b>") && !page.has("<i>"))
        }
    }

    @Test func `no template shows a text unescaped`() {
        for (name, bytes) in Assets.templateFiles {
            let raw = String(decoding: bytes, as: UTF8.self).matches(of: /\{\{\{.*?\}\}\}|\{\{&.*?\}\}/).map(\.output)
            // The picture of the QR code, which the service draws.
            #expect(raw == (name == "field-totp" ? ["{{{.}}}"] : []), "\(name)")
        }
    }
}
