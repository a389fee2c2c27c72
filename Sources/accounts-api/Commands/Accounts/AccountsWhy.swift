import Accounts
import ArgumentParser
import Foundation

extension AccountCommands {
    struct Why: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Says what keeps the person of an account from signing in, and what helps.",
            discussion: """
                Wrong passwords and codes show only once there are too many of them. The limits of a single network or \
                browser never show. A search by address or username writes an audit record.

                EXAMPLE
                  accounts-api accounts why kim@example.com
                """
        )

        @Argument(help: AccountReference.help) var account: AccountReference
        @OptionGroup var flags: OperatorFlags

        func run() async throws {
            let diagnosis = try await flags.withOperator(writesAudit: account.isSearch) { admin in
                guard let diagnosis = try await admin.diagnosis(of: account.find(by: admin)) else {
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
                        "until": finding.until.map { .string($0.timestamp) } ?? .null,
                    ]
                }
            ),
        ]
    }

    private func text(of finding: SignInFinding) -> String {
        switch finding {
        case .disabled(let since):
            "An operator disabled the account \(past(since)). \"accounts enable\" lets the person sign in again."
        case .noMethod: "The flow has no way to sign in that this account can use."
        case .noPassword(let canReset):
            if methods.contains(.code) {
                "The account has no password. A mailed code signs in."
            } else if canReset {
                "The account has no password. A recovery sets one."
            } else {
                "The account has no password, and a recovery cannot set one."
            }
        case .onlyMailedCodes: "The flow does not let passwords sign in, only mailed codes."
        case .guessed(let guess, let until): text(of: guess, until: time(to: until))
        case .unreadableAuthenticator:
            "Codes of the authenticator app cannot be checked: ACCOUNTS_KEYS lacks the key that encrypted the secret of "
                + "the app. Add the key on all servers."
        case .secondFactor(0):
            "The account needs a code of its authenticator app and has no recovery codes. A recovery needs the app, too."
        case .secondFactor(let codes):
            "The account needs a code of its authenticator app, or one of \(counted(codes, "recovery code"))."
        case .addressLeft(let leftAt, let until):
            "The account moved to another address \(past(leftAt)). The old address does not sign in. For another "
                + "\(time(to: until)), the link in the mail to the old address brings that address back."
        case .mailWaits(let count, let since, let lastError):
            "\(counted(count, "mail")) to the address \(count == 1 ? "has waited for" : "have waited for up to") "
                + time(to: since)
                + "\(lastError.map { ": \($0.printable)" } ?? ""). \"outbox retry\" sends one now."
        case .mailDead(let count, let at, let lastError):
            "\(counted(count, "mail")) for the account, or for a sign-up or recovery with its address, \(count == 1 ? "was" : "were") given up, "
                + "the last one \(past(at)): \(lastError.printable). Nothing sends a dead mail again: the person needs a new one."
        case .signedIn(let sessions, let lastUsedAt):
            "The account has \(counted(sessions, "session")), last used \(past(lastUsedAt)): the person is "
                + "signed in somewhere."
        }
    }

    private func past(_ date: Date) -> String { relative(date, to: now) }
    private func time(to date: Date) -> String { span(from: now, to: date) }

    private func text(of guess: SignInFinding.Guess, until time: String) -> String {
        let wait = "for another \(time), or longer if guesses go on"
        let known = "the account knows \(counted(knownDevices, "browser"))"
        let help = hasAddress ? " A mailed code makes a browser known." : ""
        let link = "The link in the mail with the code requests a new code, which is accepted."
        return switch guess {
        case .passwordOfAddress:
            "Unknown browsers cannot sign in with the address and the password alone, \(wait); \(known).\(help)"
        case .passwordOfUsername:
            "Unknown browsers cannot sign in with the username and the password alone, \(wait); \(known).\(help)"
        case .secondFactor: "Unknown browsers cannot enter a second factor, \(wait); \(known).\(help)"
        case .codeOfAddress: "Mailed codes for the address are refused, \(wait). \(link)"
        case .codeOfUsername: "Mailed codes for the username are refused, \(wait). \(link)"
        case .codeOfRecovery: "Mailed codes for a recovery are refused, \(wait). \(link)"
        case .appInRecovery: "A recovery refuses codes of the app, \(wait). Recovery codes are counted separately."
        case .recoveryCodeInRecovery:
            "A recovery refuses recovery codes, \(wait). Codes of the app are counted separately."
        }
    }
}

extension SignInFinding {
    /// The time at which the finding ends by itself; nil if there is no such time, or if it is not known.
    fileprivate var until: Date? {
        switch self {
        case .guessed(_, let until), .addressLeft(_, let until): until
        default: nil
        }
    }

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
        case .guessed(.codeOfRecovery, _): "recovery_code_guessed"
        case .guessed(.appInRecovery, _): "recovery_app_guessed"
        case .guessed(.recoveryCodeInRecovery, _): "recovery_saved_code_guessed"
        case .unreadableAuthenticator: "authenticator_unreadable"
        case .secondFactor: "second_factor"
        case .addressLeft: "address_left"
        case .mailWaits: "mail_waits"
        case .mailDead: "mail_dead"
        case .signedIn: "signed_in"
        }
    }
}
