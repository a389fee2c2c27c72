internal import Foundation
internal import Hummingbird
internal import Logging

@testable import Accounts
@testable import accounts_api

/// Measures the time to render a page, compared with the time to write the same content as JSON.
enum PageRendering {
    private static let target = Duration.milliseconds(1)

    static func measure() async throws {
        let keys = try KeyRing(Population.keys)
        let database = try Database(Service.conninfo, connections: 2, logger: Logger(label: "pages"))
        let signups = Signups(
            flow: try Flow.standard(),
            serviceName: "Benchmark",
            database: database,
            keys: keys,
            hashing: try HashingPool(parameters: Argon2Parameters(), workers: 1, queue: 1),
            images: .none,
            outbox: Outbox(keys: keys)
        )
        let pages = Pages(signups: signups, assets: .builtIn)
        let bodies = Representations(signups: signups)
        let draft = Self.draft(of: signups.flow)
        var table = Table("page", "JSON µs", "page µs", "bytes")
        for step in signups.flow.steps {
            let json = bodies.step(step, of: draft)
            let page = { pages.response(pages.step(json, step, of: draft, in: .english), in: .english) }
            append(step.name.rawValue, time { _ = bodies.step(step, of: draft).bytes }, page, to: &table)
        }
        let review = bodies.review(draft)
        append(
            "review",
            time { _ = bodies.review(draft).bytes },
            { pages.response(pages.review(review, of: draft, in: .english), in: .english) },
            to: &table
        )
        table.print(under: "The pages of the default flow, rendered without answers")
        await database.shutdown()
    }

    private static func append(_ name: String, _ json: Duration, _ page: () -> Response, to table: inout Table) {
        let spent = time { _ = page() }
        table.append(
            name,
            json.text(in: .microseconds(1)),
            spent.text(in: .microseconds(1)) + (spent > target ? " !" : "  "),
            "\(page().body.contentLength ?? 0)"
        )
    }

    private static func draft(of flow: Flow) -> Draft {
        Draft(
            id: ID(),
            flow: flow.id,
            language: .english,
            step: flow.steps[0].name.rawValue,
            revision: 1,
            values: Values(),
            proofs: [:],
            expiresAt: Date(timeIntervalSinceNow: 86_400),
            endsAt: Date(timeIntervalSinceNow: 86_400),
            updatedAt: Date(),
            now: Date(),
            account: nil,
            tokenHash: [],
            sealed: []
        )
    }
}
