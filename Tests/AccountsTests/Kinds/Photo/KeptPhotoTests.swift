import Foundation
import TestSupport
import Testing

@testable import Accounts

@Suite("Photos of drafts and accounts", .freshDatabase, .timeLimit(.minutes(30)))
struct KeptPhotoTests {
    private let session: DatabaseSession

    init() throws {
        session = try DatabaseSession()
    }

    @Test func `a photo is stored sealed, and only its own draft can read it`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "password")
            let kept = try await keep("turned-6.jpg", of: draft, on: service)
            #expect(kept.revision == draft.revision + 1)
            let photo = try #require(try await photo(of: kept, on: service))
            #expect(try photo.jpeg == Photo(of: .onFile("turned-6.jpg")).jpeg)
            #expect(try session.isTrue("position('\\xffd8ff'::bytea in sealed) = 0 FROM draft_photos"))

            let other = try await service.fill(service.start(), through: "password", email: "lee@example.com")
            #expect(try await self.photo(of: other, on: service) == nil)
            // The other draft cannot read the photo even if its values refer to the photo.
            let stolen = try await service.signups.write(Change(values: kept.values), to: other)
            guard case .written(let thief) = stolen else { throw Unexpected() }
            #expect(try await self.photo(of: thief, on: service) == nil)
        }
    }

    @Test func `a new photo replaces the old one, and a removed photo is deleted`() async throws {
        try await TestSignups.with { service in
            var draft = try await keep(
                "turned-6.jpg",
                of: service.fill(service.start(), through: "profile"),
                on: service
            )
            draft = try await keep("plain.png", of: draft, on: service)
            #expect(try session.number(of: "draft_photos") == 1)
            #expect(try await photo(of: draft, on: service)?.jpeg == Photo(of: .onFile("plain.png")).jpeg)

            let field = try #require(service.signups.flow.field(named: "photo"))
            let step = try #require(service.signups.flow.step(named: "profile"))
            let removed = try await service.signups.removePhoto(of: field, at: step, of: draft)
            #expect(try session.number(of: "draft_photos") == 0)
            #expect(try await photo(of: removed, on: service) == nil)
            #expect(removed.values.json(of: "username") == "kim")
            // Removing the photo again changes nothing.
            #expect(
                try await service.signups.removePhoto(of: field, at: step, of: removed).revision == removed.revision
            )
        }
    }

    @Test func `a submission without a file keeps the photo, and one with a file replaces it`() async throws {
        try await TestSignups.with { service in
            let draft = try await keep(
                "turned-6.jpg",
                of: service.fill(service.start(), through: "password"),
                on: service
            )
            let before = draft.values.json(of: "photo")
            for answers: Answers in [
                ["username": "kim"], ["username": "kim", "photo": nil], ["username": "kim", "photo": ""],
            ] {
                let now = try await service.submit(answers, to: "profile", of: draft)
                #expect(now.values.json(of: "photo") == before)
            }
            let image = try UploadedFile(.onFile("plain.png"))
            let now = try await service.submit(["username": "kim", "photo": .file(image)], to: "profile", of: draft)
            #expect(try await photo(of: now, on: service)?.jpeg == Photo(of: .onFile("plain.png")).jpeg)
            #expect(try session.number(of: "draft_photos") == 1)
        }
    }

    @Test func `all refusals of a step with a photo are reported, and nothing is stored`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "password")
            let image = try UploadedFile(.onFile("moves.gif"))
            let wrong: [(Answers, String)] = [
                // An image is decoded only if all other answers are valid.
                (["photo": .file(image)], "refused: username required"),
                (["username": "kim", "photo": .file(image)], "refused: photo unsupported_image"),
                (["username": "kim", "photo": "a text"], "refused: photo wrong_type"),
                (["username": "kim", "photo": ["a": 1]], "refused: photo wrong_type"),
                (["username": .file(image)], "refused: username wrong_type"),
                (["username": "kim", "nothing": .file(image)], "refused: nothing unknown_field"),
            ]
            for (answers, expected) in wrong {
                #expect(await outcome { try await service.submit(answers, to: "profile", of: draft) } == expected)
            }
            #expect(
                await outcome { try await keep("moves.gif", of: draft, on: service) }
                    == "refused: photo unsupported_image"
            )
            #expect(try session.number(of: "draft_photos") == 0)
            #expect(try await service.signups.reread(draft).revision == draft.revision)
        }
    }

    @Test func `a photo is deleted when its step is cleared or its draft ends`() async throws {
        try await TestSignups.with { service in
            let endings: [(String, (Draft) async throws -> Void)] = [
                (
                    "cleared",
                    {
                        _ = try await service.signups.clear(
                            #require(service.signups.flow.step(named: "profile")),
                            of: $0
                        )
                    }
                ),
                ("cancelled", { try await service.signups.cancel($0) }),
                (
                    "expired",
                    { _ in
                        try session.letPass("8 days")
                        try session.age("8 days")
                        _ = try await service.sweep()
                    }
                ),
                ("removed by an operator", { _ = try await Operator(service.signups, name: "mina").expire($0.id) }),
            ]
            for (number, (name, end)) in endings.enumerated() {
                let email = "kim\(number)@example.com"
                let draft = try await service.fill(
                    service.start(),
                    through: "profile",
                    email: email,
                    username: "kim\(number)"
                )
                let kept = try await keep("plain.png", of: draft, on: service)
                try await end(kept)
                #expect(try session.number(of: "draft_photos") == 0, "\(name)")
            }
        }
    }

    @Test func `a commit moves the photo to the account`() async throws {
        try await TestSignups.with { service in
            let draft = try await keep("turned-6.jpg", of: service.readyDraft(), on: service)
            let account = try await service.signups.commit(draft).account
            let row = try session.query("SELECT account, field, type, image FROM photos").only
            let (owner, field, type, image) = try row.decode(ID<Account>.self, String.self, String.self, [UInt8].self)
            #expect((owner, field, type) == (account.id, "photo", "image/jpeg"))
            #expect(try image == Photo(of: .onFile("turned-6.jpg")).jpeg)
            #expect(account.profile["photo"] == nil)
            #expect(try session.number(of: "draft_photos") == 0)

            try session.query("DELETE FROM accounts")
            #expect(try session.number(of: "photos") == 0)
        }
    }

    @Test func `a commit with an unreadable photo is refused until the photo is replaced`() async throws {
        try await TestSignups.with { service in
            let draft = try await keep("plain.png", of: service.readyDraft(), on: service)
            try session.query("UPDATE draft_photos SET sealed = sealed || '\\x00'::bytea")
            let ending = await outcome { try await service.signups.commit(draft) }
            #expect(ending == "incomplete: photo")
            #expect(try session.number(of: "accounts") == 0)
            _ = try await service.signups.commit(keep("turned-6.jpg", of: draft, on: service))
            #expect(try session.number(of: "photos") == 1)
        }
    }

    @Test func `the photo of a superseded draft is deleted`() async throws {
        try await TestSignups.with { service in
            let rival = try await keep("plain.png", of: service.fill(service.start(), through: "password"), on: service)
            _ = try await service.signups.commit(service.readyDraft(username: "lee"))
            #expect(await outcome { try await service.signups.reread(rival) } == "superseded")
            #expect(try session.number(of: "draft_photos") == 0)
        }
    }

    @Test func `a commit concurrent with a new photo stores one of the two photos`() async throws {
        try await TestSignups.with { service in
            let draft = try await keep("plain.png", of: service.readyDraft(), on: service)
            async let committed = outcome { try await service.signups.commit(draft) }
            async let kept = outcome { try await keep("turned-6.jpg", of: draft, on: service) }
            #expect(await committed == "done")
            #expect(["done", "committed"].contains(await kept))
            let image = try session.query("SELECT image FROM photos").only.decode([UInt8].self)
            #expect(
                try [Photo(of: .onFile("plain.png")).jpeg, Photo(of: .onFile("turned-6.jpg")).jpeg].contains(image)
            )
            #expect(try session.number(of: "draft_photos") == 0)
        }
    }

    @Test func `a photo and another step that are submitted concurrently are both stored`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "profile")
            async let photo = keep("plain.png", of: draft, on: service)
            async let contact = service.submit(["birth_date": "2001-02-28"], to: "contact", of: draft)
            _ = try await (photo, contact)
            let now = try await service.signups.reread(draft)
            #expect(now.values.json(of: "birth_date") == "2001-02-28")
            #expect(try await self.photo(of: now, on: service) != nil)
        }
    }

    @Test func `one of several concurrent photos is stored`() async throws {
        try await TestSignups.with { service in
            let draft = try await service.fill(service.start(), through: "profile")
            let outcomes = try await atOnce(6) { number in
                await outcome { try await keep(number % 2 == 0 ? "plain.png" : "turned-6.jpg", of: draft, on: service) }
            }
            #expect(outcomes.tally == ["done": 6])
            #expect(try session.number(of: "draft_photos") == 1)
            #expect(try await photo(of: service.signups.reread(draft), on: service) != nil)
        }
    }

    @Test func `a photo can be read after a key rotation`() async throws {
        let new = "new:" + Data(repeating: 9, count: 32).base64EncodedString()
        let draft = try await TestSignups.with { service in
            try await keep("plain.png", of: service.fill(service.start(), through: "profile"), on: service)
        }
        let rotated = try await TestSignups.with(keys: "\(new),\(TestSignups.keys)") { service in
            try await Operator(service.signups, name: "mina").rotateKeys()
        }
        #expect(rotated.rows["photos"] == 1)
        try await TestSignups.with(keys: new) { service in
            let photo = try await photo(of: service.signups.reread(draft), on: service)
            #expect(photo != nil)
        }
    }

    @Test func `a photo completes a step that has no other field`() async throws {
        let flow = """
            flow: test
            version: 1
            steps:
              - name: picture
                title: {en: Picture}
                fields: [{name: photo, kind: image, label: {en: Photo}}]
            """
        try await TestSignups.with(flow: flow) { service in
            let draft = try await service.start()
            #expect(
                await outcome { try await service.submit([:], to: "picture", of: draft) } == "refused: photo required"
            )
            let kept = try await keep("plain.png", of: draft, on: service, at: "picture")
            #expect(service.signups.progress(of: kept).isReady)
            // The photo is already stored, so the submission needs no file.
            let again = try await service.submit([:], to: "picture", of: kept)
            #expect(again.values.json(of: "photo") == kept.values.json(of: "photo"))
        }
    }

    private struct Unexpected: Error {}

    private func keep(
        _ name: String,
        of draft: Draft,
        on service: TestSignups,
        at step: StepName = "profile"
    ) async throws -> Draft {
        try await service.signups.keep(
            UploadedFile(.onFile(name)),
            in: #require(service.signups.flow.field(named: "photo")),
            at: #require(service.signups.flow.step(named: step)),
            of: draft
        )
    }

    private func photo(of draft: Draft, on service: TestSignups) async throws -> Photo? {
        try await service.signups.photo(in: #require(service.signups.flow.field(named: "photo")), of: draft)
    }
}
