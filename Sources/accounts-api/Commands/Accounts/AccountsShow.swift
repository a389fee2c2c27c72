import Accounts
import ArgumentParser
import Foundation

extension AccountCommands {
    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Shows one account with masked values.",
            discussion: """
                --reveal shows values unmasked, except secrets, and writes an audit record.

                EXAMPLE
                  accounts-api accounts show kim@example.com
                """
        )

        @Argument(help: "The account's id or e-mail address.") var account: String
        @Flag(help: "Shows values unmasked; writes an audit record.") var reveal = false
        @OptionGroup var flags: OperatorFlags

        func run() async throws {
            let address = UUID(uuidString: account) == nil ? try emailAddress(account).rawValue : nil
            let report = try await flags.withOperator(writesAudit: reveal) { worker -> AccountReport? in
                let id =
                    if let address { try await worker.account(named: address) } else {
                        UUID(uuidString: account).map { ID<Account>($0) }
                    }
                guard let id, let detail = try await worker.account(id) else { return nil }
                if reveal { try await worker.note(.revealAccount, of: id) }
                return AccountReport(detail: detail, flow: worker.flow, reveals: reveal)
            }
            guard let report else {
                throw NotFound(description: "no account with the id or address \"\(account.printable)\"")
            }
            print(flags.json ? report.json.text : report.text)
        }
    }
}

/// Everything that the command shows of one account.
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
                // A field that the flow no longer has is masked completely.
                let masked = field?.kind.masked(json: member.value) ?? "•••"
                return (member.name, reveals ? field?.kind.revealed(json: member.value) ?? member.value.plain : masked)
            }
    }

    private var factors: [String] {
        detail.credentials
            + (detail.hasAuthenticator ? ["authenticator, \(detail.recoveryCodes) recovery codes left"] : [])
    }

    var text: String {
        var lines = [
            "account   \(detail.account.id)", "flow      \(detail.flow)",
            "created   \(relative(detail.account.createdAt, to: detail.now))",
        ]
        if let proved = detail.provedAt { lines.append("verified  \(relative(proved, to: detail.now))") }
        lines += factors.map { "factor    \($0)" }
        var rows = values.map { [Table.Cell($0.name), Table.Cell($0.value)] }
        rows += detail.photos.map { [.init($0.field), .init("photo, \($0.bytes) bytes")] }
        rows += detail.consents.map { consent in
            let answer = consent.isAccepted ? "accepted" : "not accepted"
            let given = relative(consent.givenAt, to: detail.now)
            return [.init(consent.field), .init("\(answer) \(given), version \(consent.version)")]
        }
        return lines.joined(separator: "\n") + "\n\n" + Table(["FIELD", "VALUE"], rows).text
    }

    var json: JSON {
        let consents = detail.consents.map { consent -> JSON in
            [
                "field": .string(consent.field), "version": .string(consent.version),
                "accepted": .bool(consent.isAccepted), "at": .string(consent.givenAt.timestamp),
            ]
        }
        return [
            "id": .string("\(detail.account.id)"), "flow": .string(detail.flow),
            "created_at": .string(detail.account.createdAt.timestamp),
            "proved_at": detail.provedAt.map { .string($0.timestamp) } ?? .null,
            "credentials": .array(detail.credentials.map(JSON.string)),
            "authenticator": .bool(detail.hasAuthenticator), "recovery_codes": .integer(detail.recoveryCodes),
            "values": .object(values.map { .init($0.name, .string($0.value)) }), "consents": .array(consents),
            "photos": .object(detail.photos.map { .init($0.field, .integer($0.bytes)) }),
        ]
    }
}
