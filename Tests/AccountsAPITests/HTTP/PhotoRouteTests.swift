import Foundation
import HTTPTypes
import HummingbirdTesting
import TestSupport
import Testing

@testable import Accounts
@testable import accounts_api

@Suite("Photos over HTTP", .freshDatabase, .timeLimit(.minutes(30)))
struct PhotoRouteTests {
    private static let path = "/signup/profile/photo"
    private static let jpeg: HTTPFields = [.contentType: "image/jpeg"]
    private static let form: HTTPFields = [.contentType: Multipart.type, .origin: "http://localhost:8080"]

    @Test(arguments: Visitor.Transport.allCases)
    func `a photo is uploaded, served and deleted`(transport: Visitor.Transport) async throws {
        try await TestServer.with { site in
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

            let headers: HTTPFields = [.accept: "text/html,*/*;q=0.8"]
            #expect(try await kim.send(.delete, Self.path, headers: headers).status == 204)
            #expect(try await kim.send(.get, Self.path).status == 404)
            #expect(try await kim.send(.get, "/signup").json["values"]?["photo"] == nil)
        }
    }

    @Test func `a form uploads the photo with its step, and a form without a photo keeps the stored one`() async throws
    {
        try await TestServer.with { site in
            let kim = try await Self.atProfile(site)
            func post(_ form: Multipart) async throws -> Response {
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
                let response = try await post(form)
                #expect(response.status == 200 && response.json["values"]?["display_name"] == nil)
                #expect(try await kim.send(.get, Self.path).bytes == photo)
            }
            #expect(try await kim.put("profile", ["username": "kim"]).status == 200)
            #expect(try await kim.send(.get, Self.path).bytes == photo)

            let wrong = try await post(Multipart(["username": ""], photo: image("moves.gif")))
            #expect(wrong.refusals == ["username:required"], "the image is decoded only if the other answers are valid")
            let drawn = try await post(Multipart(["username": "kim"], photo: image("moves.gif")))
            #expect(drawn.refusals == ["photo:unsupported_image"])
            #expect(try await kim.send(.get, Self.path).bytes == photo)
            let typed = try await kim.put("profile", ["username": "kim", "photo": "a text"])
            #expect(typed.refusals == ["photo:wrong_type"])
        }
    }

    @Test(arguments: ["moves.gif", "animated.png", "animated.webp", "drawing.svg", "cmyk.jpg"])
    func `an unsupported image is refused`(_ name: String) async throws {
        try await TestServer.with { site in
            let kim = try await Self.atProfile(site)
            let response = try await kim.send(.put, Self.path, bytes: image(name), headers: Self.jpeg)
            #expect(response.status == 422)
            #expect(response.refusals == ["photo:unsupported_image"])
            #expect(try await kim.send(.get, Self.path).status == 404)
        }
    }

    @Test func `an image with too many pixels or too many bytes is refused`() async throws {
        try await TestServer.with { site in
            let kim = try await Self.atProfile(site)
            var png = try image("plain.png")
            png.replaceSubrange(16..<24, with: [0, 0, 0x1B, 0x58, 0, 0, 0x17, 0x70])
            #expect(try await kim.send(.put, Self.path, bytes: png, headers: Self.jpeg).refusals == ["photo:too_large"])
            let long = [UInt8](repeating: 0, count: ImageField.maximumBytes + 1)
            let form = Multipart(["username": "kim"], photo: long)
            let inForm = try await kim.send(.post, "/signup/profile", bytes: form.bytes, headers: Self.form)
            #expect(inForm.refusals == ["photo:too_large"])
            #expect(try await kim.send(.put, Self.path, bytes: long, headers: Self.jpeg).slug == "too-large")
            let longer = Multipart(photo: long + [UInt8](repeating: 0, count: BodyReader.maximumBytes))
            let response = try await kim.send(.post, "/signup/profile", bytes: longer.bytes, headers: Self.form)
            #expect(response.slug == "too-large")
        }
    }

    @Test func `only an image field accepts an upload, and only with the media type of an image`() async throws {
        try await TestServer.with { site in
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
            let post = try await kim.send(.post, Self.path, [:])
            #expect(post.status == 405 && post.headers[.allow] == "GET, HEAD, PUT, DELETE")
            // A step without image fields accepts no form with files.
            let form = Multipart(["birth_date": "2001-02-28"]).bytes
            #expect(try await kim.send(.post, "/signup/contact", bytes: form, headers: Self.form).status == 415)
            #expect(try await kim.send(.post, "/signup/profile/check", bytes: form, headers: Self.form).status == 415)
        }
    }

    @Test func `a write with an old revision is refused, and so is a write after the commit`() async throws {
        try await TestServer.with { site in
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
            #expect(try DatabaseSession().query("SELECT count(*) FROM photos").only.decode(Int.self) == 1)
        }
    }

    @Test func `an upload to a locked step or above the rate limit is refused before it is parsed`() async throws {
        let limits = Limits(byName: [.images: Limit(2, per: .seconds(3600))], revisions: 600)
        try await TestServer.with(limits: limits) { site in
            let early = site.visitor(.bearer)
            try await early.start()
            // The form is cut off. The server refuses it without parsing it, so it must not notice this.
            let form = Array(Multipart(["username": "kim"], photo: try image("plain.png")).bytes.dropLast(9))
            for response in [
                try await early.send(.put, Self.path, bytes: image("moves.gif"), headers: Self.jpeg),
                try await early.send(.post, "/signup/profile", bytes: form, headers: Self.form),
            ] { #expect(response.slug == "step-locked") }

            let kim = try await Self.atProfile(site, .bearer)
            for name in ["moves.gif", "plain.png"] {
                let response = try await kim.send(.put, Self.path, bytes: image(name), headers: Self.jpeg)
                #expect([422, 204].contains(response.status))
            }
            let third = try await kim.send(.put, Self.path, bytes: image("plain.png"), headers: Self.jpeg)
            #expect(third.slug == "rate-limited" && third.headers[.rateLimitPolicy]?.hasPrefix("\"images\"") == true)
        }
    }

    /// The sign-ups of one network share a limit, because each costs the server up to seconds.
    @Test func `the images of one network are limited, in all sign-ups together`() async throws {
        let limits = Limits(byName: [.imagesFromNetwork: Limit(2, per: .seconds(3600))], revisions: 600)
        try await TestServer.with(limits: limits) { site in
            for name in ["kim", "lee"] {
                let visitor = try await Self.atProfile(site, .bearer, email: "\(name)@example.com")
                let response = try await visitor.send(.put, Self.path, bytes: image("plain.png"), headers: Self.jpeg)
                #expect(response.status == 204)
            }
            let last = try await Self.atProfile(site, .bearer, email: "park@example.com")
            let third = try await last.send(.put, Self.path, bytes: image("plain.png"), headers: Self.jpeg)
            #expect(third.slug == "rate-limited")
            #expect(third.headers[.rateLimitPolicy]?.hasPrefix("\"images_from_network\"") == true)
        }
    }

    @Test func `an image and a form with a content coding are refused, and nothing is stored`() async throws {
        try await TestServer.with(.socket) { site in
            let kim = try await Self.atProfile(site, .bearer)
            let picture = try image("plain.png")
            let form = Multipart(["username": "kim"], photo: picture).bytes
            for response in [
                try await kim.send(
                    .put,
                    Self.path,
                    bytes: picture,
                    headers: [.contentType: "image/png", .contentEncoding: "gzip"]
                ),
                try await kim.send(
                    .post,
                    "/signup/profile",
                    bytes: form,
                    headers: [.contentType: Multipart.type, .contentEncoding: "gzip"]
                ),
            ] {
                #expect(response.status == 415 && response.slug == "unsupported-media-type")
                #expect(response.headers[.acceptEncoding] == "identity")
            }
            let values = try await kim.send(.get, "/signup").json["values"]
            #expect(values?["photo"] == nil && values?["username"] == nil)
        }
    }

    @Test func `a body of many tiny chunks is refused`() async throws {
        try await TestServer.with(.socket) { site in
            let kim = try await Self.atProfile(site, .bearer)
            let port = try #require(site.client.port)
            let head = Self.head(of: kim) + "Transfer-Encoding: chunked\r\n\r\n"
            let response = try await onThread {
                let client = try RawClient(port: port)
                try client.send(head + String(repeating: "1\r\nx\r\n", count: 3000))
                return client.readResponse()
            }
            #expect(response.hasPrefix("HTTP/1.1 400") && response.contains("too many small chunks"))
        }
    }

    @Test func `a body of 5 GB is refused by its Content-Length, and a chunked body when it becomes too long`()
        async throws
    {
        try await TestServer.with(.socket) { site in
            let kim = try await Self.atProfile(site, .bearer)
            let port = try #require(site.client.port)
            let head = Self.head(of: kim)
            let responses = try await onThread {
                let announced = try RawClient(port: port)
                try announced.send(head + "Content-Length: 5368709120\r\n\r\n")
                let endless = try RawClient(port: port)
                try endless.send(head + "Transfer-Encoding: chunked\r\n\r\n")
                let chunk = "10000\r\n" + String(repeating: "x", count: 65_536) + "\r\n"
                for _ in 0..<81 { try endless.send(chunk) }
                return [announced.readResponse(), endless.readResponse()]
            }
            for response in responses {
                #expect(response.hasPrefix("HTTP/1.1 413") && response.contains("/problems/too-large"))
            }
        }
    }

    @Test func `a client has at most two large uploads at once, and can start another when they end`() async throws {
        try await TestServer.with(.socket) { site in
            let kim = try await Self.atProfile(site, .bearer)
            let port = try #require(site.client.port)
            let picture = try largeImage()
            let head = Self.head(of: kim) + "Content-Length: \(picture.count)\r\n\r\n"
            func put(_ picture: [UInt8]) async throws -> Response {
                try await kim.send(.put, Self.path, bytes: picture, headers: Self.jpeg)
            }
            var slow: [RawClient] = []
            var response = try await put(picture)
            #expect(response.status == 204)
            // The slow uploads compete with the next one for the two slots, until two slow uploads have both.
            while response.status == 204 {
                try Task.checkCancellation()
                slow.append(try RawClient(port: port))
                try slow.last?.send(head)
                response = try await put(picture)
            }
            #expect(response.slug == "busy" && response.headers[.retryAfter] != nil)
            // A small body needs no slot for large uploads.
            #expect(try await put(image("plain.png")).status == 204)
            let form = try Multipart(["username": "kim"], photo: image("plain.png")).bytes
            #expect(try await kim.send(.post, "/signup/profile", bytes: form, headers: Self.form).status == 200)
            slow = []
            while try await put(picture).status != 204 { try Task.checkCancellation() }
        }
    }

    /// Larger than other bodies may be, and quickly decoded.
    private func largeImage() throws -> [UInt8] {
        var large = try image("plain.png")
        // A text chunk after the header chunk, which no decoder reads.
        large.insert(contentsOf: [0, 1, 0, 0] + Array("tEXt".utf8) + [UInt8](repeating: 0, count: 65_540), at: 33)
        return large
    }

    @Test func `the networks of a /48 have four of the eight places for large uploads, and another /48 has the others`()
        async throws
    {
        let proxies = [try #require(IPBlock("127.0.0.1"))]
        try await TestServer.with(.socket, trustedProxies: proxies) { site in
            let kim = try await Self.atProfile(site, .bearer)
            let port = try #require(site.client.port)
            let picture = try largeImage()
            let head = Self.head(of: kim) + "Content-Length: \(picture.count)\r\n"
            func put(from address: String) async throws -> Response {
                var headers = Self.jpeg
                headers[.forwardedFor] = address
                return try await kim.send(.put, Self.path, bytes: picture, headers: headers)
            }
            // Each network has fewer than its own maximum.
            var slow: [RawClient] = []
            var response = try await put(from: "2001:db8:7:ffff::1")
            while response.status == 204 {
                try Task.checkCancellation()
                let client = try RawClient(port: port)
                try client.send(head + "X-Forwarded-For: 2001:db8:7:\(String(slow.count, radix: 16))::1\r\n\r\n")
                slow.append(client)
                response = try await put(from: "2001:db8:7:ffff::1")
            }
            #expect(response.slug == "busy" && slow.count >= 4)
            #expect(try await put(from: "2001:db8:8::1").status == 204)
        }
    }

    @Test func `a client has at most four uploads at once, however small`() async throws {
        try await TestServer.with(.socket) { site in
            let kim = try await Self.atProfile(site, .bearer)
            let port = try #require(site.client.port)
            let picture = try image("plain.png")
            let head = Self.head(of: kim) + "Content-Length: \(picture.count)\r\n\r\n"
            var slow: [RawClient] = []
            var response = try await kim.send(.put, Self.path, bytes: picture, headers: Self.jpeg)
            while response.status == 204 {
                try Task.checkCancellation()
                slow.append(try RawClient(port: port))
                try slow.last?.send(head)
                response = try await kim.send(.put, Self.path, bytes: picture, headers: Self.jpeg)
            }
            #expect(response.slug == "busy" && slow.count >= 4)
        }
    }

    @Test func `images with many pixels in few bytes hardly increase the memory of the server`() async throws {
        let mails = Mails()
        let server = try await ServerProcess.start(database: FreshDatabase.current.conninfo, mails: mails)
        let kim = SignupClient("kim@example.com", mails: mails)
        try await kim.begin(at: server.port)
        for step in ["email", "code", "password"] { try await kim.step(step, at: server.port) }
        _ = try await kim.put(image("plain.png"), in: Self.path, at: server.port)
        let before = try server.maximumMemory()
        // The image has five kilobytes and 6,300 by 6,300 pixels, which need 159 MB when they are decoded.
        for _ in 0..<3 {
            let response = try await kim.put(image("vast.png"), in: Self.path, at: server.port)
            // A busy machine may not decode the image before the deadline of the request, which then gets 503.
            #expect([204, 503].contains(response.status))
        }
        #expect(try server.maximumMemory() - before < 32 << 20)
        #expect(await server.end(by: SIGTERM) == 0)
    }

    /// The header lines of an upload, without its length.
    private static func head(of visitor: Visitor) -> String {
        """
        PUT \(path) HTTP/1.1\r
        Host: x\r
        Content-Type: image/jpeg\r
        Authorization: Bearer \(visitor.tokenText ?? "")\r

        """
    }

    private static func atProfile(
        _ site: TestServer,
        _ transport: Visitor.Transport = .cookie,
        email: String = "kim@example.com"
    ) async throws -> Visitor {
        let visitor = site.visitor(transport)
        try await visitor.start()
        try await visitor.fill(through: "password", email: email)
        return visitor
    }
}
