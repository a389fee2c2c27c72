import Foundation
import TestSupport
import Testing

@testable import Accounts

@Suite("What docs/operating.md shows", .freshDatabase, .timeLimit(.minutes(3)))
struct OperatingDocumentTests {
    /// A command as it is typed, and what the document says that it answers.
    private struct Transcript {
        let arguments: [String]
        let answer: String
    }

    private static func transcripts() throws -> [Transcript] {
        let root = URL(filePath: #filePath).appending(path: "../../..").standardized
        let text = try String(contentsOf: root.appending(path: "docs/operating.md"), encoding: .utf8)
        return text.matches(of: /(?m)^ *```console\n *\$ accounts-api ([^\n]*)\n((?:.*\n)*?) *```$/).map { match in
            Transcript(arguments: match.1.split(separator: " ").map(String.init), answer: String(match.2))
        }
    }

    /// Ids and times differ from run to run, and the widths of columns with them.
    private static func comparable(_ text: String) -> [String] {
        text.split(separator: "\n").map { line in
            line.replacing(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f-]{21}/, with: "ID")
                .replacing(/[0-9]+ (s|min|h|d)( ago)?/, with: { "N \($0.1)\($0.2 ?? "")" })
                .replacing(/N (s|min)/, with: "N s").split(separator: " ").joined(separator: " ")
        }
    }

    @Test func `every command answers what the document says`() async throws {
        try await Stage.with { stage in
            let kim = try await stage.fill(stage.start(), through: "email")
            let wrong = try await stage.readCode(for: "kim@example.com") == "000000" ? "000001" : "000000"
            _ = try? await stage.submit(["code": .string(wrong)], to: "code", of: kim)
            stage.mailbox.refuse(with: .temporary(reply: 451, reason: "greylisted"))
            try TestSupport.Session().letPass("61 seconds")
            _ = try await stage.signups.resend(stage.signups.flow.step(named: "code")!, of: stage.signups.reread(kim))
            try await stage.deliver()
            stage.mailbox.refuse(with: nil)
            _ = try await stage.readyDraft(email: "lee@example.com", username: "lee")
            _ = try await stage.signups.commit(stage.readyDraft(email: "park@example.com", username: "park"))
            try await stage.deliver()

            let transcripts = try Self.transcripts()
            #expect(transcripts.count >= 9)
            for transcript in transcripts {
                let run = try await CommandRun.of(
                    transcript.arguments.map { $0 == "KIM" ? "\(kim.id)" : $0 },
                    settings: ["DATABASE_URL": FreshDatabase.current.conninfo, "ACCOUNTS_KEYS": Stage.keys]
                )
                let name = transcript.arguments.joined(separator: " ")
                #expect(run.status == 0, "\(name): \(run.complaints)")
                #expect(Self.comparable(run.output) == Self.comparable(transcript.answer), "\(name):\n\(run.output)")
            }
        }
    }
}
