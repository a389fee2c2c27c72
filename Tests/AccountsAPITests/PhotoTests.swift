import HTTPTypes
import TestSupport
import Testing

@testable import Accounts
@testable import accounts_api

@Suite("Photos by HTTP", .freshDatabase, .timeLimit(.minutes(5)))
struct PhotoRouteTests {
    private static let path = "/signup/profile/photo"
    private static let jpeg: HTTPFields = [.contentType: "image/jpeg"]
    private static let form: HTTPFields = [.contentType: Multipart.type, .origin: "http://localhost:8080"]

    @Test(arguments: Visitor.Transport.allCases)
    func `a photo is put, seen and erased`(transport: Visitor.Transport) async throws {
        try await Site.with { site in
            let kim = try await Self.atProfile(site, transport)
            #expect(try await kim.send(.get, Self.path).status == 404)
            let put = try await kim.send(.put, Self.path, bytes: image("turned-6.jpg"), headers: Self.jpeg)
            #expect(put.status == 204 && put.bytes.isEmpty)
            #expect(put.headers[.eTag] == "\"\(try await kim.send(.get, "/signup").json["revision"]?.text ?? "")\"")

            for accept in ["image/avif,image/webp,*/*;q=0.8", "image/jpeg", "text/html"] {
                let seen = try await kim.send(.get, Self.path, headers: [.accept: accept])
                #expect(seen.status == 200)
                #expect(try seen.bytes == Photo(of: image("turned-6.jpg")).jpeg)
                #expect(seen.headers[.contentType] == "image/jpeg")
                #expect(seen.headers[.xContentTypeOptions] == "nosniff")
                #expect(seen.headers[.cacheControl] == "no-store")
                #expect(seen.headers[.contentSecurityPolicy]?.hasPrefix("default-src 'none'") == true)
            }
            let size = try #require(try await kim.send(.get, "/signup").json["values"]?["photo"]?["bytes"])
            #expect(try size == .integer(Photo(of: image("turned-6.jpg")).jpeg.count))

            #expect(try await site.visitor().send(.get, Self.path).status == 401)
            #expect(
                try await Self.atProfile(site, transport, email: "lee@example.com").send(.get, Self.path).status == 404
            )

            #expect(try await kim.send(.delete, Self.path).status == 204)
            #expect(try await kim.send(.get, Self.path).status == 404)
            #expect(try await kim.send(.get, "/signup").json["values"]?["photo"] == nil)
        }
    }

    @Test func `a form brings it with the rest of the step, and keeps it where it brings none`() async throws {
        try await Site.with { site in
            let kim = try await Self.atProfile(site)
            func post(_ form: Multipart) async throws -> Answer {
                try await kim.send(.post, "/signup/profile", bytes: form.bytes, headers: Self.form)
            }
            let first = try await post(
                Multipart(["username": "kim", "display_name": "킴 é"], photo: image("plain.png"))
            )
            #expect(first.status == 200)
            #expect(first.json["values"]?["display_name"] == "킴 é")
            let photo = try await kim.send(.get, Self.path).bytes
            #expect(try photo == Photo(of: image("plain.png")).jpeg)
            for form in [Multipart(["username": "kim"]), Multipart(["username": "kim"], photo: [])] {
                let answer = try await post(form)
                #expect(answer.status == 200 && answer.json["values"]?["display_name"] == nil)
                #expect(try await kim.send(.get, Self.path).bytes == photo)
            }
            #expect(try await kim.put("profile", "{\"username\": \"kim\"}").status == 200)
            #expect(try await kim.send(.get, Self.path).bytes == photo)

            let wrong = try await post(Multipart(["username": ""], photo: image("moves.gif")))
            #expect(wrong.refusals == ["username:required", "photo:unsupported_image"])
            #expect(try await kim.send(.get, Self.path).bytes == photo)
            let typed = try await kim.put("profile", "{\"username\": \"kim\", \"photo\": \"a text\"}")
            #expect(typed.refusals == ["photo:wrong_type"])
        }
    }

    @Test(arguments: ["moves.gif", "animated.png", "animated.webp", "drawing.svg", "cmyk.jpg"])
    func `what is no still picture is refused`(_ name: String) async throws {
        try await Site.with { site in
            let kim = try await Self.atProfile(site)
            let answer = try await kim.send(.put, Self.path, bytes: image(name), headers: Self.jpeg)
            #expect(answer.status == 422)
            #expect(answer.refusals == ["photo:unsupported_image"])
            #expect(try await kim.send(.get, Self.path).status == 404)
        }
    }

    @Test func `what is too large is refused, as a picture or as a body`() async throws {
        try await Site.with { site in
            let kim = try await Self.atProfile(site)
            var png = try image("plain.png")
            png.replaceSubrange(16..<24, with: [0, 0, 0x1B, 0x58, 0, 0, 0x17, 0x70])
            #expect(try await kim.send(.put, Self.path, bytes: png, headers: Self.jpeg).refusals == ["photo:too_large"])
            let long = [UInt8](repeating: 0, count: ImageField.mostBytes + 1)
            let form = Multipart(["username": "kim"], photo: long)
            let inForm = try await kim.send(.post, "/signup/profile", bytes: form.bytes, headers: Self.form)
            #expect(inForm.refusals == ["photo:too_large"])
            #expect(try await kim.send(.put, Self.path, bytes: long, headers: Self.jpeg).slug == "too-large")
            let longer = Multipart(photo: long + [UInt8](repeating: 0, count: BodyReader.mostBytes))
            let answer = try await kim.send(.post, "/signup/profile", bytes: longer.bytes, headers: Self.form)
            #expect(answer.slug == "too-large")
        }
    }

    @Test func `only where there is an image field, and only an image`() async throws {
        try await Site.with { site in
            let kim = try await Self.atProfile(site)
            let picture = try image("plain.png")
            #expect(
                try await kim.send(.put, Self.path, bytes: picture, headers: [.contentType: "text/html"]).status == 415
            )
            #expect(try await kim.send(.put, Self.path, bytes: picture).status == 415)
            for path in ["/signup/profile/username", "/signup/profile/nothing", "/signup/nothing/photo"] {
                #expect(try await kim.send(.put, path, bytes: picture, headers: Self.jpeg).status == 404)
                #expect(try await kim.send(.get, path).status == 404)
            }
            let post = try await kim.send(.post, Self.path, "{}")
            #expect(post.status == 405 && post.headers[.allow] == "GET, HEAD, PUT, DELETE")
            // A step without images has no use for files.
            let form = Multipart(["birth_date": "2001-02-28"]).bytes
            #expect(try await kim.send(.post, "/signup/contact", bytes: form, headers: Self.form).status == 415)
            #expect(try await kim.send(.post, "/signup/profile/check", bytes: form, headers: Self.form).status == 415)
        }
    }

    @Test func `a revision that is past is refused, and so is a write after the commit`() async throws {
        try await Site.with { site in
            let kim = site.visitor()
            try await kim.start()
            try await kim.fill()
            let picture = try image("plain.png")
            let stale: HTTPFields = [.contentType: "image/png", .ifMatch: "\"1\""]
            #expect(try await kim.send(.put, Self.path, bytes: picture, headers: stale).status == 412)
            #expect(try await kim.send(.delete, Self.path, headers: [.ifMatch: "\"1\""]).status == 412)
            #expect(try await kim.send(.put, Self.path, bytes: picture, headers: Self.jpeg).status == 204)
            #expect(try await kim.commit().status == 201)
            #expect(try await kim.send(.put, Self.path, bytes: picture, headers: Self.jpeg).slug == "already-committed")
            #expect(try await kim.send(.get, Self.path).slug == "already-committed")
            #expect(try Session().query("SELECT count(*) FROM photos").only.decode(Int.self) == 1)
        }
    }

    @Test func `an image comes after the steps that come before it`() async throws {
        try await Site.with { site in
            let kim = site.visitor()
            try await kim.start()
            let answer = try await kim.send(.put, Self.path, bytes: image("plain.png"), headers: Self.jpeg)
            #expect(answer.slug == "step-locked")
        }
    }

    private static func atProfile(
        _ site: Site,
        _ transport: Visitor.Transport = .cookie,
        email: String = "kim@example.com"
    ) async throws -> Visitor {
        let visitor = site.visitor(transport)
        try await visitor.start()
        try await visitor.fill(through: "password", email: email)
        return visitor
    }
}
