internal import Foundation

@testable import Accounts

/// Measures the costs of the triggers that write events: runs transactions that begin and end sessions, or insert
/// accounts, one after another on one connection, with and without the triggers.
enum EventTriggers {
    private static let rounds = 5
    private static let time = Duration.seconds(2)
    private static let warmUp = 200

    private enum Design: CaseIterable {
        case disabled, unheard, heard

        var name: String {
            switch self {
            case .disabled: "without triggers"
            case .unheard: "no application"
            case .heard: "one application"
            }
        }

        /// SQL that sets the design up. It empties the tables, so that all runs begin with the same content.
        var script: String {
            let mode = self == .disabled ? "DISABLE" : "ENABLE"
            let application = """
                INSERT INTO applications (id, events, has_webhook, backchannel_logout)
                VALUES ('shop', '{account.created,session.created,session.ended}', true, false);
                """
            return """
                TRUNCATE accounts, events, event_sequences, applications CASCADE;
                ALTER TABLE accounts \(mode) TRIGGER USER;
                ALTER TABLE sessions \(mode) TRIGGER USER;
                \(self == .heard ? application : "")
                """
        }
    }

    private enum Act: CaseIterable {
        case session, account

        var name: String {
            switch self {
            case .session: "a session begins, and ends"
            case .account: "an account with its session"
            }
        }

        /// The transactions of one act, each with its statements.
        func transactions(with account: ID<Account>) -> [[SQL]] {
            let token = Token(for: ID<AccountSession>())
            switch self {
            case .session:
                return [[insertion(of: token, account)], ["DELETE FROM sessions WHERE id = \(token.id)"]]
            case .account:
                let new = ID<Account>()
                return [[EventTriggers.insertion(of: new), insertion(of: token, new)]]
            }
        }

        private func insertion(of token: Token<AccountSession>, _ account: ID<Account>) -> SQL {
            """
            INSERT INTO sessions (id, account, token_hash, assurance, methods, is_kept, idle_after, ends_at, sealed)
            VALUES (\(token.id), \(account), \(token.hash), 1, 'pwd', true, '14 days', now() + interval '30 days',
                    \([UInt8](repeating: 7, count: 96)))
            """
        }
    }

    private static func insertion(of account: ID<Account>) -> SQL {
        """
        INSERT INTO accounts (id, email, profile, locale, flow)
        VALUES (\(account), \("\(account)@example.com"), '{}', 'en', 'default@1')
        """
    }

    static func measure() throws {
        let conninfo = try Population.database("triggers")
        let administrator = try Connection(to: conninfo)
        for isDurable in [true, false] {
            var table = Table("act", "triggers", "a second", "ms each", "ms more")
            for act in Act.allCases {
                var rates: [Design: [Double]] = [:]
                for _ in 0..<rounds {
                    for design in Design.allCases {
                        let accounts = try prepare(design, on: administrator)
                        rates[design, default: []].append(try rate(of: act, isDurable, accounts, to: conninfo))
                    }
                }
                let without = 1000 / rates[.disabled]!.median
                for design in Design.allCases {
                    let rate = rates[design]!.median
                    table.append(
                        act.name,
                        design.name,
                        String(format: "%.0f", rate),
                        String(format: "%.3f", 1000 / rate),
                        String(format: "%+.3f", 1000 / rate - without)
                    )
                }
            }
            table.print(
                under: """
                    The costs of the triggers that write events, \
                    \(isDurable ? "durable" : "without waiting for the disk"); \
                    medians of \(rounds) runs of \(time.components.seconds) s
                    """
            )
        }
    }

    /// - Returns: the accounts whose sessions begin and end.
    private static func prepare(_ design: Design, on database: borrowing Connection) throws -> [ID<Account>] {
        try database.run(design.script)
        let accounts = (0..<100).map { _ in ID<Account>() }
        for account in accounts { _ = try database.query(insertion(of: account)) }
        try database.run("CHECKPOINT")
        return accounts
    }

    private static func rate(
        of act: Act,
        _ isDurable: Bool,
        _ accounts: [ID<Account>],
        to conninfo: String
    ) throws -> Double {
        let connection = try Connection(to: conninfo)
        if !isDurable { try connection.run("SET synchronous_commit = off") }
        var pipeline = try Pipeline(connection, lockTimeout: .seconds(5))
        for number in 0..<warmUp { try perform(act, accounts[number % accounts.count], on: &pipeline) }
        let start = ContinuousClock.now
        var count = 0
        while ContinuousClock.now - start < time {
            try perform(act, accounts[count % accounts.count], on: &pipeline)
            count += 1
        }
        return Double(count) / ((ContinuousClock.now - start) / .seconds(1))
    }

    private static func perform(_ act: Act, _ account: ID<Account>, on pipeline: inout Pipeline) throws {
        for transaction in act.transactions(with: account) {
            guard case .committed = try pipeline.exchange([transaction]) else {
                throw Service.Failure(description: "a statement failed: \(act.name)")
            }
        }
    }
}
