import HTTPTypes
import TestSupport
import Testing

@testable import Accounts
@testable import accounts_api

@Suite("The photo of an account", .freshDatabase, .timeLimit(.minutes(30)))
struct AccountPhotoTests {
    private static let path = "/account/photos/photo"

    private func stored() throws -> [[UInt8]] {
        try DatabaseSession().query("SELECT image FROM photos").map { try $0.decode([UInt8].self) }
    }

    @Test func `a person adds a photo, replaces it and removes it`() async throws {
        try await TestServer.with { site in
            let kim = Browser(site)
            try await kim.signUp()
            let first = try await kim.send(
                .put,
                "/account/profile",
                Multipart(["username": "kim", "display_name": "Kim"], photo: image("plain.png"))
            )
            #expect(first.status == 200 && first.json["account"]?["display_name"] == "Kim")
            let plain = try Photo(of: image("plain.png")).jpeg
            #expect(try await kim.send(.get, Self.path).bytes == plain)
            let step = try await kim.send(.get, "/account/profile").json
            guard case .array(let fields)? = step["fields"] else { throw Missing() }
            #expect(fields.last?["value"]?["bytes"] == .integer(plain.count))

            try await kim.send(.put, "/account/profile", Multipart(["username": "kim"], photo: image("turned-6.jpg")))
            let turned = try Photo(of: image("turned-6.jpg")).jpeg
            #expect(try stored() == [turned], "nothing of the old photo is left")
            let export = try await kim.send(.get, "/account/export").json
            guard case .array(let photos)? = export["photos"] else { throw Missing() }
            #expect(photos.map { $0["bytes"] } == [.integer(turned.count)])

            #expect(try await kim.send(.delete, Self.path).status == 204)
            #expect(try await kim.send(.get, Self.path).status == 404)
            #expect(try stored().isEmpty)
            #expect(try await kim.send(.delete, Self.path).status == 204, "again")
        }
    }

    /// Browsers prefer HTML, and accept everything else.
    @Test func `a browser that opens the address of the photo gets the image`() async throws {
        try await TestServer.with { site in
            let kim = Browser(site)
            try await kim.signUp()
            try await kim.send(.put, "/account/profile", Multipart(["username": "kim"], photo: image("plain.png")))
            let session = try #require(kim["session"])
            let headers: HTTPFields = [.accept: "text/html,*/*;q=0.8", .cookie: "session=\(session)"]
            let shown = try await site.send(.get, Self.path, headers)
            #expect(shown.status == 200 && shown.headers[.contentType] == "image/jpeg")
            let list = try await site.send(.get, "/account/sessions", headers)
            #expect(list.status == 200 && list.json["sessions"] != nil)
        }
    }

    @Test func `answers without an image keep the photo`() async throws {
        try await TestServer.with { site in
            let kim = Browser(site)
            try await kim.signUp()
            try await kim.send(.put, "/account/profile", Multipart(["username": "kim"], photo: image("plain.png")))
            let before = try stored()
            for form in [Multipart(["username": "kim"]), Multipart(["username": "kim"], photo: [])] {
                #expect(try await kim.send(.put, "/account/profile", form).status == 200)
            }
            for body: JSON in [["username": "kim"], ["username": "kim", "photo": nil]] {
                #expect(try await kim.send(.put, "/account/profile", body).status == 200)
            }
            #expect(try stored() == before && before.count == 1)
        }
    }

    @Test func `the photo of the sign-up can be replaced`() async throws {
        try await TestServer.with { site in
            let kim = site.visitor()
            try await kim.start()
            try await kim.fill()
            let picture: HTTPFields = [.contentType: "image/png"]
            _ = try await kim.send(.put, "/signup/profile/photo", bytes: image("plain.png"), headers: picture)
            #expect(try await kim.commit().status == 201)
            let browser = Browser(site)
            _ = try await browser.signIn()
            let form = try Multipart(["username": "kim"], photo: image("turned-6.jpg"))
            #expect(try await browser.send(.put, "/account/profile", form).status == 200)
            let turned = try Photo(of: image("turned-6.jpg")).jpeg
            #expect(try stored() == [turned])
        }
    }

    @Test func `an unsupported or too large image, and a reference to another photo, are refused and change nothing`()
        async throws
    {
        try await TestServer.with { site in
            let kim = Browser(site)
            try await kim.signUp()
            try await kim.send(.put, "/account/profile", Multipart(["username": "kim"], photo: image("plain.png")))
            let before = try stored()
            let moving = try Multipart(["username": "kim", "display_name": "New"], photo: image("moves.gif"))
            #expect(try await kim.send(.put, "/account/profile", moving).refusals == ["photo:unsupported_image"])
            let long = [UInt8](repeating: 0, count: ImageField.maximumBytes + 1)
            let large = Multipart(["username": "kim"], photo: long)
            #expect(try await kim.send(.put, "/account/profile", large).refusals == ["photo:too_large"])
            let larger = Multipart(photo: long + [UInt8](repeating: 0, count: BodyReader.maximumBytes))
            #expect(try await kim.send(.put, "/account/profile", larger).slug == "too-large")
            // Photos of drafts have ids, but an account cannot take over a photo by its id.
            let reference: JSON = ["username": "kim", "photo": ["photo": .string("\(ID<Photo>())"), "bytes": 3]]
            #expect(try await kim.send(.put, "/account/profile", reference).refusals == ["photo:wrong_type"])
            #expect(try stored() == before)
            #expect(try await kim.send(.get, "/account").json["account"]?["display_name"] == nil)
        }
    }

    @Test func `nobody sees or changes the photo of another account`() async throws {
        try await TestServer.with { site in
            let (kim, lee) = (Browser(site), Browser(site))
            try await kim.signUp()
            try await lee.signUp("lee@example.com", "lee")
            try await kim.send(.put, "/account/profile", Multipart(["username": "kim"], photo: image("plain.png")))
            #expect(try await lee.send(.get, Self.path).status == 404)
            try await lee.send(.delete, Self.path)
            #expect(try stored().count == 1)
            let stranger = Browser(site)
            #expect(try await stranger.send(.delete, Self.path).slug == "no-session")
            let form = try Multipart(["username": "kim"], photo: image("plain.png"))
            #expect(try await stranger.send(.put, "/account/profile", form).slug == "no-session")
        }
    }

    @Test func `only fields that ask for an image have a photo to remove`() async throws {
        try await TestServer.with { site in
            let kim = Browser(site)
            try await kim.signUp()
            for name in ["username", "nothing", "terms"] {
                #expect(try await kim.send(.delete, "/account/photos/\(name)").slug == "not-found")
            }
            // A step without image fields accepts no form with files.
            let form = Multipart(["birth_date": "2001-02-28"])
            #expect(try await kim.send(.put, "/account/contact", form).status == 415)
        }
    }

    @Test func `images count against a limit of the account`() async throws {
        let limits = Limits(byName: [.images: Limit(2, per: .seconds(3600))], revisions: 600)
        try await TestServer.with(limits: limits) { site in
            let kim = Browser(site)
            try await kim.signUp()
            func put(_ name: String) async throws -> Response {
                try await kim.send(.put, "/account/profile", Multipart(["username": "kim"], photo: image(name)))
            }
            #expect(try await put("moves.gif").status == 422)
            #expect(try await put("plain.png").status == 200)
            #expect(try await put("plain.png").slug == "rate-limited")
            #expect(try await kim.send(.put, "/account/profile", ["username": "kim"]).status == 200)
        }
    }

    @Test func `an image is not decoded if the username is taken`() async throws {
        try await TestServer.with { site in
            try await Browser(site).signUp("lee@example.com", "lee")
            let kim = Browser(site)
            try await kim.signUp()
            // This image would be refused if it were decoded.
            let form = try Multipart(["username": "lee"], photo: image("moves.gif"))
            #expect(try await kim.send(.put, "/account/profile", form).refusals == ["username:taken"])
            let renamed = try Multipart(["username": "kim2"], photo: image("plain.png"))
            #expect(try await kim.send(.put, "/account/profile", renamed).status == 200)
        }
    }

    @Test func `a required photo can be replaced but not removed`() async throws {
        let flow = """
            flow: f
            version: 1
            steps:
              - name: me
                title: Me
                editable: true
                fields: [{name: photo, kind: image, label: Photo}]
            """
        try await TestServer.with(flow: flow) { site in
            let kim = PageVisitor(site)
            _ = try await kim.post("/signup", "locale=en")
            _ = try await kim.post("/signup/me", Multipart(photo: image("plain.png")))
            _ = try await kim.post("/signup/commit")
            let page = try await kim.open("/account/me")
            #expect(page.has("src=\"\(Self.path)\"") && !page.has("\(Self.path)/remove"))
            #expect(try await kim.post("\(Self.path)/remove").status == 422)
            #expect(try await kim.post("/account/me", Multipart(photo: image("turned-6.jpg"))).path == "/account?saved")
            let turned = try Photo(of: image("turned-6.jpg")).jpeg
            #expect(try stored() == [turned])
        }
    }

    @Test func `the pages change the photo without script`() async throws {
        try await TestServer.with { site in
            let kim = PageVisitor(site)
            _ = try await kim.fill(through: "terms")
            _ = try await kim.post("/signup/commit")
            let form = try await kim.open("/account/profile")
            #expect(form.has("enctype=\"multipart/form-data\"") && !form.has("\(Self.path)/remove"))
            let refused = try await kim.post(
                "/account/profile",
                Multipart(["username": "admin", "display_name": "Kim K"], photo: image("plain.png"))
            )
            #expect(refused.status == 422 && refused.has("value=\"Kim K\"") && refused.has("aria-invalid"))
            let saved = try await kim.post(
                "/account/profile",
                Multipart(["username": "kim", "display_name": "Kim K", "introduction": ""], photo: image("plain.png"))
            )
            #expect(saved.path == "/account?saved" && saved.has("<img class=\"preview\" src=\"\(Self.path)\""))
            let edit = try await kim.open("/account/profile")
            #expect(edit.has("src=\"\(Self.path)\"") && edit.has("action=\"\(Self.path)/remove\""))
            let removed = try await kim.post("\(Self.path)/remove")
            #expect(removed.path == "/account/profile?photo-removed" && !removed.has("src=\"\(Self.path)\""))
            #expect(removed.has("class=\"news\" role=\"status\">Your photo has been removed."))
            #expect(try stored().isEmpty)
        }
    }

    @Test func `a photo in a form that is too large is refused on its page`() async throws {
        try await TestServer.with { site in
            let kim = PageVisitor(site)
            _ = try await kim.fill(through: "terms")
            _ = try await kim.post("/signup/commit")
            let long = [UInt8](repeating: 0, count: ImageField.maximumBytes + BodyReader.maximumBytes + 1)
            let page = try await kim.post("/account/profile", Multipart(photo: long))
            #expect(page.status == 422 && page.has("name=\"photo\"") && page.has("value=\"kim\""))
        }
    }
}
