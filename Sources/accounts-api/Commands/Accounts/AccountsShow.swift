import Accounts
import ArgumentParser
import Foundation

extension AccountCommands {
    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Shows one account with masked values.",
            discussion: """
                --reveal shows values unmasked, except secrets, and writes an audit record. A search by address or \
                username writes one, too.

                EXAMPLE
                  accounts-api accounts show kim@example.com
                """
        )

        @Argument(help: AccountReference.help) var account: AccountReference
        @Flag(help: "Shows values unmasked; writes an audit record.") var reveal = false
        @OptionGroup var flags: OperatorFlags

        func run() async throws {
            let report = try await flags.withOperator(writesAudit: reveal || account.isSearch, needsKeys: false) {
                admin in
                let id = try await account.find(by: admin)
                guard let detail = try await admin.account(id) else { throw account.notFound }
                if reveal { try await admin.note(.revealAccount, of: id) }
                return AccountReport(detail: detail, flow: admin.flow, reveals: reveal)
            }
            print(flags.json ? report.json.text : report.text)
        }
    }
}

/// Everything that `accounts show` shows of one account.
private struct AccountReport {
    let detail: AccountDetail
    let flow: Flow
    let reveals: Bool

    private var values: [(name: String, value: String)] {
        var values: [(String, String)] = []
        if let email = detail.account.email {
            values.append(("email", reveals ? email : EmailAddress(email)?.masked ?? "•••"))
        }
        if let name = detail.account.username { values.append(("username", reveals ? name : "\(name.prefix(1))•••")) }
        guard case .object(let profile) = detail.account.profile else { return values }
        return values
            + profile.map { member in
                let field = flow.field(named: FieldName(member.name))
                // A value is masked completely if the flow no longer has its field, or has one of another kind.
                let masked = field?.kind.masked(json: member.value) ?? "•••"
                return (member.name, reveals ? field?.kind.revealed(json: member.value) ?? member.value.plain : masked)
            }
    }

    private var before: [AccountSection] { detail.sections.filter(\.precedesValues) }
    private var after: [AccountSection] { detail.sections.filter { !$0.precedesValues } }

    private func text(of entry: AccountSection.Entry) -> String {
        let time = entry.time.map { " \(relative($0, to: detail.now))" } ?? ""
        let note = entry.note.map { ", \($0)" } ?? ""
        return entry.text + time + note
    }

    var text: String {
        var lines = [
            ("account", "\(detail.account.id)"), ("flow", detail.flow),
            ("created", relative(detail.account.createdAt, to: detail.now)),
        ]
        if let proved = detail.provedAt { lines.append(("verified", relative(proved, to: detail.now))) }
        lines += before.flatMap(\.entries).map { ($0.label, text(of: $0).printable) }
        let head = lines.map { $0 + String(repeating: " ", count: max(2, 10 - $0.columns)) + $1 }

        // Entries without a time come first, then entries with a time, such as a consent.
        let entries = after.flatMap(\.entries)
        let ordered = entries.filter { $0.time == nil } + entries.filter { $0.time != nil }
        let rows = values + ordered.map { (name: $0.label, value: text(of: $0)) }
        return head.joined(separator: "\n") + "\n\n"
            + Table(["FIELD", "VALUE"], rows.map { [.init($0.name), .init($0.value)] }).text
    }

    var json: JSON {
        let members: [JSON.Member] = [
            .init("id", .string("\(detail.account.id)")), .init("flow", .string(detail.flow)),
            .init("created_at", .string(detail.account.createdAt.timestamp)),
            .init("proved_at", detail.provedAt.map { .string($0.timestamp) } ?? .null),
        ]
        let values = JSON.Member("values", .object(values.map { .init($0.name, .string($0.value)) }))
        return .object(members + before.flatMap(\.members) + [values] + after.flatMap(\.members))
    }
}
