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
            abstract: "Lists the sessions of an account, the most recently used one first.",
            discussion: """
                A search by address or username writes an audit record.

                EXAMPLE
                  accounts-api sessions list kim@example.com
                """
        )

        @Argument(help: AccountReference.help) var account: AccountReference
        @OptionGroup var list: ListFlags
        @OptionGroup var flags: OperatorFlags

        func run() async throws {
            let format = try ListedSession.format.chosen(by: list, asJSON: flags.json)
            let (sessions, now) = try await flags.withOperator(writesAudit: account.isSearch) { admin in
                guard let listed = try await admin.sessions(of: account.find(by: admin)) else { throw account.notFound }
                return listed
            }
            if flags.json {
                print(JSON.array(sessions.map(format.json(of:))).text)
            } else {
                print(format.table(of: sessions, at: now).text(isWide: flags.wide))
            }
        }
    }

    struct End: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Ends all sessions of an account, or one of them, or the sessions of everybody.",
            discussion: """
                Without --session, also ends the sign-ins that wait for a second factor or a code. Whoever was signed \
                out has to sign in again. Writes an audit record if anything ends, and always with --everybody.

                With --everybody, the command asks first. If it cannot ask, because standard input is not a terminal, \
                it needs --yes.

                EXAMPLES
                  accounts-api sessions end kim@example.com
                  accounts-api sessions end kim@example.com --session 01a1fdb4-8d11-7c6f-a2b7-5c1e2d3f4a5b
                  accounts-api sessions end --everybody
                """
        )

        @Argument(help: AccountReference.help) var account: AccountReference?
        @Option(help: "Ends only this session.") var session: IDArgument<AccountSession>?
        @Flag(help: "Ends the sessions of all accounts.") var everybody = false
        @Flag(help: "Does not ask.") var yes = false
        @OptionGroup var flags: OperatorFlags

        func validate() throws {
            if everybody == (account != nil) { throw ValidationError("pass either an account or --everybody") }
            if everybody, session != nil { throw ValidationError("--session needs an account") }
        }

        func run() async throws {
            if everybody, !yes { try Question.ask("Sign everybody out? [y/N] ", orRefuse: "nobody was signed out") }
            let count = try await flags.withOperator(writesAudit: true, needsKeys: false) { admin in
                guard let account else { return try await admin.endAllSessions() }
                let ended = try await admin.endSessions(of: account.find(by: admin), only: session?.id)
                guard let ended else { throw account.notFound }
                return ended
            }
            if count == 0, let session { throw NotFound(description: "the account has no session \(session.id)") }
            print(
                flags.json ? JSON.object([.init("ended", .integer(count))]).text : "ended \(counted(count, "session"))"
            )
        }
    }
}

extension ListedSession {
    fileprivate static var format: ListFormat<ListedSession> {
        ListFormat(
            [
                .text("SESSION", \.id.description), .text("NETWORK") { $0.network ?? "?" },
                .text("BROWSER") { $0.browserName ?? "?" }, .time("CREATED", \.createdAt), .time("USED", \.lastSeenAt),
            ],
            fields: [
                .text("id", \.id.description), .text("network", \.network), .text("browser", \.browserName),
                .time("created_at", \.createdAt), .time("last_seen_at", \.lastSeenAt),
            ]
        )
    }

    private var browserName: String? { browser.map(BrowserName.of) }
}
