import Accounts
import ArgumentParser
import Foundation

extension AccountCommands {
    struct Why: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Says what keeps the person of an account from signing in, and what helps.",
            discussion: """
                A wrong password leaves nothing that this command can show. Neither does a limit of one network or one \
                browser. A search by address or username writes an audit record.

                EXAMPLE
                  accounts-api accounts why kim@example.com
                """
        )

        @Argument(help: AccountReference.help) var account: AccountReference
        @OptionGroup var flags: OperatorFlags

        func run() async throws {
            let diagnosis = try await flags.withOperator(writesAudit: account.isSearch) { worker in
                guard let diagnosis = try await worker.diagnosis(of: account.find(by: worker)) else {
                    throw account.notFound
                }
                return diagnosis
            }
            print(flags.json ? diagnosis.json.text : diagnosis.text)
        }
    }
}

extension SignInDiagnosis {
    fileprivate var text: String {
        let lines = findings.map { text(of: $0) }
        if hasObstacle { return lines.joined(separator: "\n") }
        let ways = [(SignInRules.Method.password, "the password"), (.code, "a mailed code")].filter {
            methods.contains($0.0)
        }
        let first = "Nothing stands in the way of a sign-in with \(ways.map(\.1).joined(separator: " or "))."
        return ([first] + lines).joined(separator: "\n")
    }

    fileprivate var json: JSON {
        [
            "account": .string("\(account)"), "obstacle": .bool(hasObstacle),
            "reasons": .array(
                findings.map { finding in
                    [
                        "code": .string(finding.code), "obstacle": .bool(finding.isObstacle),
                        "text": .string(text(of: finding)),
                    ]
                }
            ),
        ]
    }

    private func text(of finding: SignInFinding) -> String {
        switch finding {
        case .disabled(let since):
            "An operator disabled the account \(past(since)). \"accounts enable\" lets the person sign in again."
        case .noMethod: "The account has nothing that the flow lets sign in: no password, and no address for a code."
        case .noPassword(let canReset):
            if methods.contains(.code) {
                "The account has no password. A mailed code signs in."
            } else if canReset {
                "The account has no password. A recovery sets one."
            } else {
                "The account has no password, and no address for a recovery."
            }
        case .onlyMailedCodes: "The flow does not let passwords sign in, only mailed codes."
        case .guessed(let guess, let until): text(of: guess, until: time(to: until))
        case .unreadableAuthenticator:
            "The authenticator app cannot be checked: its key is missing in ACCOUNTS_KEYS. Add the key on all servers."
        case .secondFactor(0):
            "The account needs a code of its authenticator app and has no recovery codes. A recovery needs the app, too."
        case .secondFactor(let codes):
            "The account needs a code of its authenticator app, or one of \(counted(codes, "recovery code"))."
        case .addressLeft(let leftAt, let until):
            "The account moved to another address \(past(leftAt)). The old address does not sign in; the link "
                + "in the mail to it brings it back for another \(time(to: until))."
        case .mailWaits(let count, let since, let lastError):
            "\(counted(count, "mail")) to the address \(count == 1 ? "has" : "have") waited for \(time(to: since))"
                + "\(lastError.map { ": \($0.printable)" } ?? ""). \"outbox retry\" sends one now."
        case .signedIn(let sessions, let lastUsedAt):
            "The account has \(counted(sessions, "session")), last used \(past(lastUsedAt)): the person is "
                + "signed in somewhere."
        }
    }

    // The sentences are in English in every terminal.
    private func past(_ date: Date) -> String { relative(date, to: now, in: .english) }
    private func time(to date: Date) -> String { span(from: now, to: date, in: .english) }

    private func text(of guess: SignInFinding.Guess, until time: String) -> String {
        let known = "the account knows \(counted(knownDevices, "browser"))"
        let help = hasAddress ? " A mailed code makes a browser known." : ""
        let subject =
            switch guess {
            case .passwordOfAddress: "sign-ins with the address"
            case .passwordOfUsername: "sign-ins with the username"
            case .secondFactor: "codes of the second factor"
            case .codeOfAddress: "mailed codes for the address"
            case .codeOfUsername: "mailed codes for the username"
            }
        switch guess {
        case .passwordOfAddress, .passwordOfUsername:
            return
                "Too many \(subject) have failed in unknown browsers. For \(time) the password alone is refused there; "
                + "\(known).\(help)"
        case .secondFactor:
            return "Too many \(subject) were wrong in unknown browsers. For \(time) they are refused there; \(known)."
                + help
        case .codeOfAddress, .codeOfUsername:
            return
                "Too many \(subject) were wrong. For \(time) they are refused. The link in a mail with a code sends one "
                + "that is not."
        }
    }
}

extension SignInFinding {
    fileprivate var code: String {
        switch self {
        case .disabled: "disabled"
        case .noMethod: "no_method"
        case .noPassword: "no_password"
        case .onlyMailedCodes: "only_mailed_codes"
        case .guessed(.passwordOfAddress, _): "password_guessed_for_address"
        case .guessed(.passwordOfUsername, _): "password_guessed_for_username"
        case .guessed(.codeOfAddress, _): "code_guessed_for_address"
        case .guessed(.codeOfUsername, _): "code_guessed_for_username"
        case .guessed(.secondFactor, _): "second_factor_guessed"
        case .unreadableAuthenticator: "authenticator_unreadable"
        case .secondFactor: "second_factor"
        case .addressLeft: "address_left"
        case .mailWaits: "mail_waits"
        case .signedIn: "signed_in"
        }
    }
}
