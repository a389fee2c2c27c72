import Foundation
import TestSupport
import Testing

@testable import Accounts

@Suite("Photos", .freshDatabase, .timeLimit(.minutes(5)))
struct KeptPhotoTests {
    private let session: Session

    init() throws {
        session = try Session()
    }

    @Test func `a photo is kept sealed, and shown to its draft alone`() async throws {
        try await Stage.with { stage in
            let draft = try await stage.fill(stage.start(), through: "password")
            let kept = try await keep("turned-6.jpg", of: draft, on: stage)
            #expect(kept.revision == draft.revision + 1)
            let photo = try #require(try await photo(of: kept, on: stage))
            #expect(try photo.jpeg == Photo(of: .onFile("turned-6.jpg")).jpeg)
            #expect(try session.isTrue("position('\\xffd8ff'::bytea in sealed) = 0 FROM draft_photos"))

            let other = try await stage.fill(stage.start(), through: "password", email: "lee@example.com")
            #expect(try await self.photo(of: other, on: stage) == nil)
            // Nor where somebody has put its name into the other's values.
            let stolen = try await stage.signups.write(Change(values: kept.values), to: other)
            guard case .made(let thief) = stolen else { throw Unexpected() }
            #expect(try await self.photo(of: thief, on: stage) == nil)
        }
    }

    @Test func `another takes its place, and nothing is left of one that is taken away`() async throws {
        try await Stage.with { stage in
            var draft = try await keep("turned-6.jpg", of: stage.fill(stage.start(), through: "profile"), on: stage)
            draft = try await keep("plain.png", of: draft, on: stage)
            #expect(try session.number(of: "draft_photos") == 1)
            #expect(try await photo(of: draft, on: stage)?.jpeg == Photo(of: .onFile("plain.png")).jpeg)

            let field = try #require(stage.signups.flow.field(named: "photo"))
            let step = try #require(stage.signups.flow.step(named: "profile"))
            let removed = try await stage.signups.removePhoto(of: field, at: step, of: draft)
            #expect(try session.number(of: "draft_photos") == 0)
            #expect(try await photo(of: removed, on: stage) == nil)
            #expect(removed.values.json(of: "username") == "kim")
            // Once more changes nothing.
            #expect(try await stage.signups.removePhoto(of: field, at: step, of: removed).revision == removed.revision)
        }
    }

    @Test func `a submission without a file leaves it alone, and one with a file replaces it`() async throws {
        try await Stage.with { stage in
            let draft = try await keep("turned-6.jpg", of: stage.fill(stage.start(), through: "password"), on: stage)
            let before = draft.values.json(of: "photo")
            for answers: Answers in [
                ["username": "kim"], ["username": "kim", "photo": nil], ["username": "kim", "photo": ""],
            ] {
                let now = try await stage.submit(answers, to: "profile", of: draft)
                #expect(now.values.json(of: "photo") == before)
            }
            let image = try UploadedFile(.onFile("plain.png"))
            let now = try await stage.submit(["username": "kim", "photo": .file(image)], to: "profile", of: draft)
            #expect(try await photo(of: now, on: stage)?.jpeg == Photo(of: .onFile("plain.png")).jpeg)
            #expect(try session.number(of: "draft_photos") == 1)
        }
    }

    @Test func `all that is wrong is told, and nothing is stored`() async throws {
        try await Stage.with { stage in
            let draft = try await stage.fill(stage.start(), through: "password")
            let image = try UploadedFile(.onFile("moves.gif"))
            let wrong: [(Answers, String)] = [
                (["photo": .file(image)], "refused: username required, photo unsupported_image"),
                (["username": "kim", "photo": "a text"], "refused: photo wrong_type"),
                (["username": "kim", "photo": ["a": 1]], "refused: photo wrong_type"),
                (["username": .file(image)], "refused: username wrong_type"),
                (["username": "kim", "nothing": .file(image)], "refused: nothing unknown_field"),
            ]
            for (answers, words) in wrong {
                #expect(await outcome { try await stage.submit(answers, to: "profile", of: draft) } == words)
            }
            #expect(
                await outcome { try await keep("moves.gif", of: draft, on: stage) }
                    == "refused: photo unsupported_image"
            )
            #expect(try session.number(of: "draft_photos") == 0)
            #expect(try await stage.signups.reread(draft).revision == draft.revision)
        }
    }

    @Test func `it goes with the step, the draft, and whatever ends it`() async throws {
        try await Stage.with { stage in
            let ends: [(String, (Draft) async throws -> Void)] = [
                (
                    "cleared",
                    { _ = try await stage.signups.clear(#require(stage.signups.flow.step(named: "profile")), of: $0) }
                ),
                ("cancelled", { try await stage.signups.cancel($0) }),
                (
                    "expired",
                    { _ in
                        try session.letPass("8 days")
                        try session.age("8 days")
                        _ = try await stage.sweep()
                    }
                ),
                ("removed by an operator", { _ = try await Operator(stage.signups, name: "mina").expire($0.id) }),
            ]
            for (number, (name, end)) in ends.enumerated() {
                let email = "kim\(number)@example.com"
                let draft = try await stage.fill(
                    stage.start(),
                    through: "profile",
                    email: email,
                    username: "kim\(number)"
                )
                let kept = try await keep("plain.png", of: draft, on: stage)
                try await end(kept)
                #expect(try session.number(of: "draft_photos") == 0, "\(name)")
            }
        }
    }

    @Test func `a commit makes it the account's`() async throws {
        try await Stage.with { stage in
            let draft = try await keep("turned-6.jpg", of: stage.readyDraft(), on: stage)
            let (account, _) = try await stage.signups.commit(draft)
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

    @Test func `a commit waits for a photo that cannot be read, and loses none silently`() async throws {
        try await Stage.with { stage in
            let draft = try await keep("plain.png", of: stage.readyDraft(), on: stage)
            try session.query("UPDATE draft_photos SET sealed = sealed || '\\x00'::bytea")
            let ending = await outcome { try await stage.signups.commit(draft) }
            #expect(ending == "incomplete: photo")
            #expect(try session.number(of: "accounts") == 0)
            _ = try await stage.signups.commit(keep("turned-6.jpg", of: draft, on: stage))
            #expect(try session.number(of: "photos") == 1)
        }
    }

    @Test func `a rival's photo goes with the rival`() async throws {
        try await Stage.with { stage in
            let rival = try await keep("plain.png", of: stage.fill(stage.start(), through: "password"), on: stage)
            _ = try await stage.signups.commit(stage.readyDraft(username: "lee"))
            #expect(await outcome { try await stage.signups.reread(rival) } == "superseded")
            #expect(try session.number(of: "draft_photos") == 0)
        }
    }

    @Test func `a commit and another photo at once leave the photo of one of them`() async throws {
        try await Stage.with { stage in
            let draft = try await keep("plain.png", of: stage.readyDraft(), on: stage)
            async let committed = outcome { try await stage.signups.commit(draft) }
            async let kept = outcome { try await keep("turned-6.jpg", of: draft, on: stage) }
            #expect(await committed == "done")
            #expect(["done", "committed"].contains(await kept))
            let image = try session.query("SELECT image FROM photos").only.decode([UInt8].self)
            #expect(
                try [Photo(of: .onFile("plain.png")).jpeg, Photo(of: .onFile("turned-6.jpg")).jpeg].contains(image)
            )
            #expect(try session.number(of: "draft_photos") == 0)
        }
    }

    @Test func `a photo and another step that come at once are both kept`() async throws {
        try await Stage.with { stage in
            let draft = try await stage.fill(stage.start(), through: "profile")
            async let photo = keep("plain.png", of: draft, on: stage)
            async let contact = stage.submit(["birth_date": "2001-02-28"], to: "contact", of: draft)
            _ = try await (photo, contact)
            let now = try await stage.signups.reread(draft)
            #expect(now.values.json(of: "birth_date") == "2001-02-28")
            #expect(try await self.photo(of: now, on: stage) != nil)
        }
    }

    @Test func `photos that come at once leave one`() async throws {
        try await Stage.with { stage in
            let draft = try await stage.fill(stage.start(), through: "profile")
            let outcomes = try await atOnce(6) { number in
                await outcome { try await keep(number % 2 == 0 ? "plain.png" : "turned-6.jpg", of: draft, on: stage) }
            }
            #expect(outcomes.tally == ["done": 6])
            #expect(try session.number(of: "draft_photos") == 1)
            #expect(try await photo(of: stage.signups.reread(draft), on: stage) != nil)
        }
    }

    @Test func `it can be read under a new key`() async throws {
        let new = "new:" + Data(repeating: 9, count: 32).base64EncodedString()
        let draft = try await Stage.with { stage in
            try await keep("plain.png", of: stage.fill(stage.start(), through: "profile"), on: stage)
        }
        let rotated = try await Stage.with(keys: "\(new),\(Stage.keys)") { stage in
            try await Operator(stage.signups, name: "mina").rotateKeys()
        }
        #expect(rotated.rows["photos"] == 1)
        try await Stage.with(keys: new) { stage in
            let photo = try await photo(of: stage.signups.reread(draft), on: stage)
            #expect(photo != nil)
        }
    }

    @Test func `a step of nothing but a photo is answered by it`() async throws {
        let flow = """
            flow: test
            version: 1
            steps:
              - name: picture
                title: {en: Picture}
                fields: [{name: photo, kind: image, label: {en: Photo}}]
            """
        try await Stage.with(flow: flow) { stage in
            let draft = try await stage.start()
            #expect(
                await outcome { try await stage.submit([:], to: "picture", of: draft) } == "refused: photo required"
            )
            let kept = try await keep("plain.png", of: draft, on: stage, at: "picture")
            #expect(stage.signups.standing(of: kept).isReady)
            // It is there already, so nothing is asked for.
            let again = try await stage.submit([:], to: "picture", of: kept)
            #expect(again.values.json(of: "photo") == kept.values.json(of: "photo"))
        }
    }

    private struct Unexpected: Error {}

    private func keep(
        _ name: String,
        of draft: Draft,
        on stage: Stage,
        at step: StepName = "profile"
    ) async throws -> Draft {
        try await stage.signups.keep(
            UploadedFile(.onFile(name)),
            in: #require(stage.signups.flow.field(named: "photo")),
            at: #require(stage.signups.flow.step(named: step)),
            of: draft
        )
    }

    private func photo(of draft: Draft, on stage: Stage) async throws -> Photo? {
        try await stage.signups.photo(in: #require(stage.signups.flow.field(named: "photo")), of: draft)
    }
}
