import Accounts
import TestSupport

/// A suite that runs commands with sudo, as the operator mina, on the database of the test.
protocol OperatorCommandSuite {
    var session: DatabaseSession { get }
}

extension OperatorCommandSuite {
    func command(_ arguments: String..., settings: [String: String] = [:]) async throws -> CommandRun {
        try await command(arguments: arguments, settings: settings)
    }

    func command(arguments: [String], settings: [String: String] = [:]) async throws -> CommandRun {
        let sudo = ["USER": "root", "SUDO_USER": "mina"]
        return try await CommandRun.byMina(arguments, settings: sudo.merging(settings) { $1 })
    }

    /// The audit records, oldest first, each with its operator and its act, and with its subject if there is one.
    func audit() throws -> [String] {
        try session.query(
            "SELECT operator || ': ' || act || coalesce(' ' || subject::text, '') FROM audit ORDER BY number"
        )
        .map { try $0.decode(String.self) }
    }
}

extension DatabaseSession {
    /// The acts of the audit records, oldest first.
    func auditedActs() throws -> [String] {
        try query("SELECT act FROM audit ORDER BY number").map { try $0.decode(String.self) }
    }
}
