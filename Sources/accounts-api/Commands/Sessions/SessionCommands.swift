import Accounts
import ArgumentParser

struct SessionCommands: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sessions",
        abstract: "Lists and ends the sessions of an account.",
        subcommands: [List.self, End.self]
    )

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lists the sessions of an account, the one that was used last first.",
            discussion: """
                A search by address or username writes an audit record.

                EXAMPLE
                  accounts-api sessions list kim@example.com
                """
        )

        @Argument(help: AccountReference.help) var account: AccountReference
        @OptionGroup var flags: OperatorFlags

        func run() async throws {
            let (sessions, now) = try await flags.withOperator(writesAudit: account.isSearch) { worker in
                try await worker.sessions(of: account.find(by: worker))
            }
            if flags.json {
                print(JSON.array(sessions.map(Self.json)).text)
            } else {
                let rows = sessions.map { session -> [Table.Cell] in
                    [
                        .init("\(session.id)"), .init(session.network ?? "?"),
                        .init(session.browser.map { BrowserName.of($0) } ?? "?"),
                        .init(relative(session.createdAt, to: now)), .init(relative(session.lastSeenAt, to: now)),
                    ]
                }
                print(Table(["SESSION", "NETWORK", "BROWSER", "CREATED", "USED"], rows).text)
            }
        }

        private static func json(_ session: ListedSession) -> JSON {
            [
                "id": .string("\(session.id)"), "network": session.network.map(JSON.string) ?? .null,
                "browser": session.browser.map { .string(BrowserName.of($0)) } ?? .null,
                "created_at": .string(session.createdAt.timestamp),
                "last_seen_at": .string(session.lastSeenAt.timestamp),
            ]
        }
    }

    struct End: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Ends all sessions of an account, or one of them.",
            discussion: """
                The person signs in again. Writes an audit record.

                EXAMPLES
                  accounts-api sessions end kim@example.com
                  accounts-api sessions end kim@example.com --session 01a1fdb4-8d11-7c6f-a2b7-5c1e2d3f4a5b
                """
        )

        @Argument(help: AccountReference.help) var account: AccountReference
        @Option(help: "Ends only this session.") var session: Identity<AccountSession>?
        @OptionGroup var flags: OperatorFlags

        func run() async throws {
            let count = try await flags.withOperator(writesAudit: true) { worker in
                try await worker.endSessions(of: account.find(by: worker), only: session?.id)
            }
            if count == 0, let session { throw NotFound(description: "the account has no session \(session.id)") }
            print(
                flags.json ? JSON.object([.init("ended", .integer(count))]).text : "ended \(counted(count, "session"))"
            )
        }
    }
}
