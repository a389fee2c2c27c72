import Foundation
import TestSupport
import Testing

@testable import Accounts

// The tests are serialized, because each delivers the mail of the whole database.
@Suite("Random lives of accounts", .serialized, .freshDatabase, .timeLimit(.minutes(30)))
struct RandomLivesTests {
    private static let seed = ProcessInfo.processInfo.environment["SEED"].map { UInt64($0)! }
    private static let lives = 1000

    /// In this life, a recovery has ended another one, whose second factor was then refused as wrong.
    @Test(arguments: [3_415_622_910_193_112_079]) func `lives that once differed from the model follow it`(
        seed: UInt64
    ) async throws {
        try await TestSignups.with(flow: Life.flow, connections: 9) { service in
            let log = await LifeLog(of: seed, on: service)
            try await service.deliver()
            #expect(log.failure == nil, "\(log)")
        }
    }

    /// Every run uses other seeds. `SEED=… swift test --filter RandomLives` runs the given seed alone.
    @Test func `a thousand random lives of accounts behave as the model predicts`() async throws {
        try await TestSignups.with(flow: Life.flow, connections: 9) { service in
            let first = Self.seed ?? .random(in: 0...UInt64(Int64.max))
            let count = Self.seed == nil ? Self.lives : 1
            let logs = await withTaskGroup(of: [LifeLog].self) { group in
                let workers = 8
                for worker in 0..<workers {
                    group.addTask {
                        var logs: [LifeLog] = []
                        for number in stride(from: worker, to: count, by: workers) {
                            logs.append(await LifeLog(of: first &+ UInt64(number), on: service))
                        }
                        return logs
                    }
                }
                return await group.reduce(into: []) { $0 += $1 }
            }
            try await service.deliver()
            let codes = service.mailbox.mails.filter { $0.subject == Life.recoverySubject }
            let expected = logs.flatMap(\.recoveryMails)
            let failures = logs.filter { $0.failure != nil }.sorted { $0.lines.count < $1.lines.count }
            if let shortest = failures.first {
                Issue.record(
                    "\(failures.count) of \(logs.count) failed, such as \(failures.prefix(20).map(\.seed))\n\(shortest)"
                )
            } else {
                #expect(codes.map(\.to).sorted() == expected.sorted(), "only the address of an account gets a code")
            }
        }
    }
}

/// The log of one life. `failure` is the first difference from the model; nil if there is none.
private struct LifeLog: CustomStringConvertible, Sendable {
    let seed: UInt64
    private(set) var lines: [String] = []
    private(set) var failure: String?
    /// The addresses that must have got a code of a recovery, one for each mail.
    private(set) var recoveryMails: [String] = []

    init(of seed: UInt64, on service: TestSignups) async {
        self.seed = seed
        do {
            var life = try await Life(seed: seed, on: service)
            do {
                for _ in 0..<Int.random(in: 4...14, using: &life.chance) { try await life.act() }
                try await life.checkRows()
            } catch {
                failure = "\(error)"
            }
            (lines, recoveryMails) = (life.log, life.recoveryMails)
        } catch {
            failure = "\(error)"
        }
    }

    var description: String { "SEED=\(seed)\n\(lines.joined(separator: "\n"))\n\(failure ?? "")" }
}
