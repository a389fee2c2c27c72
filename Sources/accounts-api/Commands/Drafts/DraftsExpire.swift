import Accounts
import ArgumentParser

extension DraftCommands {
    struct Expire: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Deletes one draft now; its owner then sees that the sign-up has expired.",
            discussion: """
                EXAMPLE
                  accounts-api drafts expire 01a1fdb2-1117-7906-a197-83af84022e4d
                """
        )

        @Argument(help: "The draft's id.") var draft: Identity<Draft>
        @OptionGroup var flags: OperatorFlags

        func run() async throws {
            guard try await flags.withOperator(writesAudit: true, { try await $0.expire(draft.id) }) else {
                throw NotFound(description: "no open draft \(draft.id)")
            }
            print(
                flags.json ? JSON.object([.init("expired", .string("\(draft.id)"))]).text : "deleted draft \(draft.id)"
            )
        }
    }
}
