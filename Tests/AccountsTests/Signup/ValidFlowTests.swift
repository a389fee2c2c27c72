import TestSupport
import Testing

@testable import Accounts

@Suite("Revalidation of stored values", .freshDatabase, .timeLimit(.minutes(30)))
struct ValidFlowTests {
    private let session: DatabaseSession

    init() throws {
        session = try DatabaseSession()
    }

    /// Replaces a stored value without validation.
    ///
    /// - Parameter flow: the digest of the flow under which the draft's values are marked as valid.
    private func store(
        _ value: any StoredValue,
        in field: FieldName,
        of draft: Draft,
        validUnder flow: String?,
        on service: TestSignups
    ) async throws -> Draft {
        var values = draft.values
        values[field] = value
        values.validFlow = flow
        let sealed = service.signups.keys.seal(
            values.sealable,
            for: .draft(draft.id, tokenHash: draft.tokenHash, revision: draft.revision)
        )
        try session.query("UPDATE drafts SET sealed = \(sealed) WHERE id = \(draft.id)")
        return try await service.signups.reread(draft)
    }

    @Test func `values that are valid under the loaded flow are validated again only by the commit`() async throws {
        try await TestSignups.with { service in
            let ready = try await service.readyDraft()
            #expect(ready.values.validFlow == service.signups.flow.digest)
            let draft = try await store(
                "two\nlines",
                in: "display_name",
                of: ready,
                validUnder: service.signups.flow.digest,
                on: service
            )
            #expect(service.signups.progress(of: draft).isReady)
            #expect(await outcome { try await service.signups.commit(draft) }.hasPrefix("incomplete"))
        }
    }

    @Test(arguments: [nil, "another flow"])
    func `values that are not known to be valid under the loaded flow are validated again`(flow: String?) async throws {
        try await TestSignups.with { service in
            let ready = try await service.readyDraft()
            let draft = try await store("two\nlines", in: "display_name", of: ready, validUnder: flow, on: service)
            #expect(service.signups.progress(of: draft).states["profile"] == .invalid)
        }
    }

    @Test func `the digest of the flow is stored only if all values are valid`() async throws {
        try await TestSignups.with { service in
            let ready = try await service.readyDraft()
            var draft = try await store("two\nlines", in: "display_name", of: ready, validUnder: nil, on: service)
            draft = try await service.submit(["email": "kim@example.com"], to: "email", of: draft)
            #expect(draft.values.validFlow == nil)
            draft = try await service.submit(["username": "kim", "display_name": "Kim"], to: "profile", of: draft)
            #expect(draft.values.validFlow == service.signups.flow.digest)
            #expect(try await service.signups.reread(draft).values.validFlow == service.signups.flow.digest)
        }
    }

    @Test func `dates are always validated again`() async throws {
        try await TestSignups.with { service in
            let ready = try await service.readyDraft()
            let born = try #require(CivilDate(year: 1850, month: 1, day: 1))
            let draft = try await store(
                born,
                in: "birth_date",
                of: ready,
                validUnder: service.signups.flow.digest,
                on: service
            )
            #expect(service.signups.progress(of: draft).states["contact"] == .invalid)
        }
    }

    @Test func `a value is never revealed if its field has become a secret`() async throws {
        func flow(_ kind: String) -> String {
            "flow: test\nversion: 1\nsteps: [{name: s, title: S, fields: [{name: pin, kind: \(kind), label: P}]}]\n"
        }
        let draft = try await TestSignups.with(flow: flow("text")) { service in
            try await service.submit(["pin": "hunter2"], to: "s", of: service.start())
        }
        try await TestSignups.with(flow: flow("password")) { service in
            let draft = try await service.signups.reread(draft)
            let field = service.signups.flow.fields[0]
            #expect(field.kind.summary(of: field, in: draft, reveals: true) == "•••")
            #expect(field.kind.shown(field, in: draft, at: .step) == nil)
            #expect(service.signups.progress(of: draft).states["s"] == .invalid)
        }
    }

    @Test func `the digest of a flow depends on the text of its file`() throws {
        let yaml = "flow: test\nversion: 1\nsteps: [{name: s, title: S, fields: [{name: f, kind: text, label: F}]}]\n"
        let flow = try Flow(yaml: yaml, file: "test.yaml")
        #expect(try Flow(yaml: yaml, file: "other.yaml").digest == flow.digest)
        #expect(
            try Flow(yaml: yaml.replacing("label: F", with: "label: F, max: 9"), file: "test.yaml").digest
                != flow.digest
        )
    }
}
