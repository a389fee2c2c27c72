import Accounts
import ArgumentParser

extension DraftCommands {
    struct Purge: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Ends all open drafts that are meant.",
            discussion: """
                EXAMPLES
                  accounts-api drafts purge --email kim@example.com --dry-run
                  accounts-api drafts purge --older-than 3d
                """
        )

        @Option(help: "Those begun longer ago, such as 2h.") var olderThan: Period?
        @Option(help: "Those for this address.") var email: String?
        @Flag(help: "Only says how many they are.") var dryRun = false
        @OptionGroup var flags: OperatorFlags

        func validate() throws {
            if olderThan == nil, email == nil { throw ValidationError("say which: --older-than or --email") }
        }

        func run() async throws {
            let filter = try DraftFilter(olderThan: olderThan, email: email)
            let count = try await flags.withOperator(leavesTrace: !dryRun) { worker in
                dryRun ? try await worker.count(filter) : try await worker.purge(filter)
            }
            if flags.json {
                print(JSON.object([.init("drafts", .integer(count)), .init("dry_run", .bool(dryRun))]).text)
            } else {
                print(dryRun ? "open drafts that would be gone: \(count)" : "drafts that are gone: \(count)")
            }
        }
    }
}
