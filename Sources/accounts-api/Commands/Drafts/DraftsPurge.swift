import Accounts
import ArgumentParser

extension DraftCommands {
    struct Purge: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Deletes all unfinished drafts that match the options.",
            discussion: """
                This cannot be undone. So the command first says how many drafts match, and asks; without a terminal, \
                it needs --yes. With --email, it also deletes the tickets (links for another code) that were mailed to \
                the address. Writes an audit record for each deleted draft. A search by --email writes further \
                records, also with --dry-run.

                EXAMPLES
                  accounts-api drafts purge --email kim@example.com --dry-run
                  accounts-api drafts purge --step code --older-than 3d
                """
        )

        @Option(help: "Only drafts in this state: open, review, expired.") var state: DraftState?
        @Option(
            help: "Only drafts at this step, such as recovery/code; review for sign-ups that are ready to commit.",
            completion: .custom(DraftCommands.steps)
        )
        var step: String?
        @Option(help: "Only drafts created longer ago than this, such as 2h.") var olderThan: DurationArgument?
        @Option(help: "Only drafts with this e-mail address.") var email: String?
        @Flag(help: "Only counts the drafts.") var dryRun = false
        @Flag(help: "Does not ask.") var yes = false
        @OptionGroup var flags: OperatorFlags

        func validate() throws {
            if state == nil, step == nil, olderThan == nil, email == nil {
                throw ValidationError("pass --state, --step, --older-than or --email to choose the drafts")
            }
            if state == .committed { throw ValidationError("committed drafts are accounts: see accounts erase") }
        }

        func run() async throws {
            let filter = try DraftFilter(state: state, step: step, olderThan: olderThan, email: email)
            if !dryRun, !yes { try Question.checkTerminal() }
            let (isSearch, isChange) = (email != nil, !dryRun)
            let count = try await flags.withOperator(writesAudit: isSearch || isChange, needsKeys: isSearch) { admin in
                try await admin.check(step: step)
                let count = try await admin.count(filter)
                if dryRun { return count }
                if !yes {
                    let tickets = isSearch ? " and the tickets in mails to the address" : ""
                    let question = "Delete \(counted(count, "draft"))\(tickets)? [y/N] "
                    try Question.ask(question, orRefuse: "no draft was deleted")
                }
                return try await admin.purge(filter)
            }
            if flags.json {
                print(JSON.object([.init("drafts", .integer(count)), .init("dry_run", .bool(dryRun))]).text)
            } else {
                print("\(dryRun ? "would delete" : "deleted") \(counted(count, "draft"))")
            }
        }
    }
}
