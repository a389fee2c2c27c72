import Accounts
import ArgumentParser

extension DraftCommands {
    struct Extend: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Gives a draft its whole time anew.",
            discussion: """
                It ends as if it had begun now. One that has expired does not come back.

                EXAMPLE
                  accounts-api drafts extend 01a1fdb2-1117-7906-a197-83af84022e4d
                """
        )

        @Argument(help: "The draft's id.") var draft: Identity<Draft>
        @OptionGroup var flags: OperatorFlags

        func run() async throws {
            guard let end = try await flags.withOperator(leavesTrace: true, { try await $0.extend(draft.id) }) else {
                throw NotFound(description: "there is no open draft \(draft.id)")
            }
            if flags.json {
                print(
                    JSON.object([
                        .init("id", .string("\(draft.id)")), .init("expires_at", .string(end.expiresAt.timestamp)),
                    ]).text
                )
            } else {
                print("\(draft.id) ends \(relative(end.expiresAt, to: end.now))")
            }
        }
    }
}
