import Accounts
import ArgumentParser

extension DraftCommands {
    struct Purge: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Deletes all open drafts that match.",
            discussion: """
                EXAMPLES
                  accounts-api drafts purge --email kim@example.com --dry-run
                  accounts-api drafts purge --older-than 3d
                """
        )

        @Option(help: "Only drafts created longer ago than this, such as 2h.") var olderThan: Period?
        @Option(help: "Only drafts with this e-mail address.") var email: String?
        @Flag(help: "Only counts the drafts.") var dryRun = false
        @OptionGroup var flags: OperatorFlags

        func validate() throws {
            if olderThan == nil, email == nil {
                throw ValidationError("pass --older-than, --email or both to choose the drafts")
            }
        }

        func run() async throws {
            let filter = try DraftFilter(olderThan: olderThan, email: email)
            let count = try await flags.withOperator(writesAudit: !dryRun || email != nil) { worker in
                dryRun ? try await worker.count(filter) : try await worker.purge(filter)
            }
            if flags.json {
                print(JSON.object([.init("drafts", .integer(count)), .init("dry_run", .bool(dryRun))]).text)
            } else {
                print("\(dryRun ? "would delete" : "deleted") \(counted(count, "draft"))")
            }
        }
    }
}
