import Foundation
import TestSupport

@testable import Accounts

/// One account from its sign-up on, and a model that predicts its state.
struct Life {
    static let flow = """
        flow: lives
        version: 1
        steps:
          - {name: email, title: E, fields: [{name: email, kind: email, label: E, identifier: true}]}
          - {name: code, title: C, fields: [{name: code, kind: code, proves: email, label: C}]}
          - {name: password, title: P, fields: [{name: password, kind: password, label: P}]}
          - name: name
            title: N
            editable: true
            fields: [{name: username, kind: username, label: N, identifier: true}]
        """

    static let recoverySubject = "Reset your Acme password"

    struct Mismatch: Error, CustomStringConvertible {
        let description: String
    }

    /// A session that was started, and may have ended.
    struct Held {
        var token: Token<AccountSession>
        var isValid = true
        var hasTwoFactors = false
    }

    /// The authenticator app of the account, with its recovery codes.
    struct App {
        let secret: [UInt8]
        /// The time step of the last accepted code; nil if there is none, or if the test has reset it in the database.
        var usedStep: Int?
        var codes: [RecoveryCode]
        var usedCodes: [RecoveryCode] = []
    }

    /// A second factor that the person enters.
    enum Factor: CustomStringConvertible {
        case app(step: Int)
        case usedApp
        case recoveryCode(RecoveryCode)
        case usedRecoveryCode(RecoveryCode)

        var isRight: Bool {
            switch self {
            case .app, .recoveryCode: true
            case .usedApp, .usedRecoveryCode: false
            }
        }

        var description: String {
            switch self {
            case .app: "the app"
            case .usedApp: "the used code of the app"
            case .recoveryCode: "a recovery code"
            case .usedRecoveryCode: "a used recovery code"
            }
        }
    }

    /// An open draft of a recovery, or of a change of the address.
    struct Open {
        let draft: Draft
        let token: Token<Draft>
        /// The session that has started it; nil for a recovery.
        var session: Int?
        var address = ""
        var isCurrent = true
        var needsSecondFactor = false
    }

    /// An address that the account has left.
    struct Left {
        let address: String
        let token: AddressToken
    }

    let service: TestSignups
    var chance: SeededChance
    var log: [String] = []
    var recoveryMails: [String] = []
    let tag: String
    let account: ID<Account>
    private var number = 0

    // The following properties are the model: the expected state of the account.
    var exists = true
    var isDisabled = false
    var address: String
    var username: String
    var password: String?
    var app: App?
    var sessions: [Held] = []
    var recoveries: [Open] = []
    var changes: [Open] = []
    var left: [Left] = []
    var usedLinks: [AddressToken] = []
    /// Whether the address has changed within the last day, and the change was not undone.
    var isPaused = false

    init(seed: UInt64, on service: TestSignups) async throws {
        self.service = service
        chance = SeededChance(seed: seed)
        tag = String(seed, radix: 36)
        (address, username, password) = ("a0-\(tag)@example.com", "u0-\(tag)", "the first pass phrase")
        let signups = service.signups
        var (draft, token) = try await signups.start(in: .english)
        let answers: [Answers] = [
            ["email": .string(address)], [:], ["password": .password("the first pass phrase")],
            ["username": .string(username)],
        ]
        for (step, answer) in zip(signups.flow.steps, answers) {
            let code: Answers = [
                "code": .string(step.name == "code" ? try await Self.code(for: address, 0, service) : "")
            ]
            draft = try await signups.submit(step.name == "code" ? code : answer, to: step, of: draft).draft
        }
        let commit = try await signups.commit(draft, signingIn: Self.client(token))
        account = commit.account.id
        if let session = commit.session { sessions.append(Held(token: session.token)) }
    }

    /// Waits for a mail to the address after `earlier` others, and returns the code in the last mail to the address.
    static func code(for address: String, _ earlier: Int, _ service: TestSignups) async throws -> String {
        while service.mailbox.mails(to: address).count <= earlier {
            try await service.deliver()
            await Task.yield()
        }
        return try service.mailbox.code(for: address)
    }

    func mails(to address: String) -> Int { service.mailbox.mails(to: address).count }

    static func client(_ token: Token<Draft>) -> CommittingClient {
        CommittingClient(token: token, client: SessionClient(browser: nil, device: nil))
    }

    /// The sessions as a client in a random network sees them. Each act has its own network, so that rate limits of
    /// guesses do not affect other acts.
    mutating func signIn() -> Sessions {
        let parts = (0..<3).map { _ in Int.random(in: 1...254, using: &chance) }
        let network = Network(IPAddress("10.\(parts[0]).\(parts[1]).\(parts[2])")!)
        return Sessions(signups: service.signups, failureTime: .zero).from(
            network,
            SessionClient(browser: nil, device: nil)
        )
    }

    func following(_ purpose: FlowPurpose) -> Signups {
        service.signups.following(service.signups.flow.changes.first { $0.purpose == purpose }!)
    }

    mutating func next(_ prefix: String) -> String {
        number += 1
        return "\(prefix)\(number)-\(tag)"
    }

    // MARK: Acts

    mutating func act() async throws {
        switch Int.random(in: 0..<21, using: &chance) {
        case 0...2: try await trySignIn()
        case 3, 4: try await checkSession()
        case 5: try await signOut()
        case 6: try await changePassword()
        case 7, 8: try await startRecovery()
        case 9: try await finishRecovery()
        case 10: try await startChange()
        case 11: try await finishChange()
        case 12: try await undo()
        case 13: try await letADayPass()
        case 14: try await rename()
        case 15...17: try await addApp()
        case 18: try await removeApp()
        case 19: try await replaceRecoveryCodes()
        default: try await administrate()
        }
    }

    mutating func expect(_ outcome: String, _ expected: String, _ what: String) throws {
        log.append("\(what): \(outcome)")
        if outcome != expected { throw Mismatch(description: "\(what): expected \(expected), but was \(outcome)") }
    }

    /// Marks all open recoveries and changes of the address as outdated: finishing them must fail.
    mutating func outdate() {
        for index in recoveries.indices { recoveries[index].isCurrent = false }
        for index in changes.indices { changes[index].isCurrent = false }
    }

    mutating func endSessions(but kept: Int? = nil) {
        for index in sessions.indices where index != kept { sessions[index].isValid = false }
    }
}
