import Accounts
import ArgumentParser

extension DraftCommands {
    struct Extend: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Restarts the lifetime of a draft.",
            discussion: """
                The draft expires as if it were created now. An expired draft cannot be extended.

                EXAMPLE
                  accounts-api drafts extend 01a1fdb2-1117-7906-a197-83af84022e4d
                """
        )

        @Argument(help: DraftReference.help) var draft: DraftReference
        @OptionGroup var flags: OperatorFlags

        func run() async throws {
            let (id, end) = try await flags.withOperator(writesAudit: true, needsKeys: draft.needsKeys) { admin in
                let id = try await draft.find(by: admin)
                guard let end = try await admin.extend(id) else {
                    throw NotFound(description: "no open draft \(id)")
                }
                return (id, end)
            }
            if flags.json {
                print(
                    JSON.object([
                        .init("id", .string("\(id)")), .init("expires_at", .string(end.expiresAt.timestamp)),
                    ]).text
                )
            } else {
                print("extended draft \(id): expires \(relative(end.expiresAt, to: end.now))")
            }
        }
    }
}
