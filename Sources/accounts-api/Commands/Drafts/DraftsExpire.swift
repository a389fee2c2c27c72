import Accounts
import ArgumentParser

extension DraftCommands {
    struct Expire: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Deletes one draft now. The person then sees that it has expired.",
            discussion: """
                EXAMPLE
                  accounts-api drafts expire 01a1fdb2-1117-7906-a197-83af84022e4d
                """
        )

        @Argument(help: DraftReference.help) var draft: DraftReference
        @OptionGroup var flags: OperatorFlags

        func run() async throws {
            let id = try await flags.withOperator(writesAudit: true, needsKeys: draft.needsKeys) { admin in
                let id = try await draft.find(by: admin)
                guard try await admin.expire(id) else { throw NotFound(description: "no open draft \(id)") }
                return id
            }
            print(flags.json ? JSON.object([.init("expired", .string("\(id)"))]).text : "deleted draft \(id)")
        }
    }
}
