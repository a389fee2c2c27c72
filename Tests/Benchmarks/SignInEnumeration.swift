internal import Foundation

@testable import Accounts

/// Measures whether the time of a failed sign-in, of the first step of a recovery or of a request for a mailed code
/// reveals that there is an account, its state, or how its password is stored.
enum SignInEnumeration {
    private static let rounds = 100
    /// The maximum difference between two medians.
    private static let target = Duration.milliseconds(1)

    private enum Kind: String, CaseIterable {
        case none = "no account"
        case own = "password"
        case authenticator
        case disabled
        case bcrypt = "imported, bcrypt 12"
        case pbkdf2 = "imported, PBKDF2 1,000,000"

        func address(_ round: Int) -> String { "\(self)\(round)@example.com" }

        /// The hash method of another system from which the password was imported; nil for other accounts.
        var method: (any HashMethod)? {
            switch self {
            case .bcrypt: ImportedHash.method(of: "crypt,$2b$12$", salt: Array("aaaaaaaaaaaaaaaaaaaaaa".utf8))
            case .pbkdf2: ImportedHash.method(of: "pbkdf2,sha256,1000000,32", salt: Array("salt".utf8))
            default: nil
            }
        }
    }

    static func measure() throws {
        // A server reads at its start which hash methods the stored passwords have, so the accounts come first.
        try prepare(Service().database)
        let service = try Service()
        try measure(service, "A failed sign-in") { service, address, headers in
            let body: JSON = ["identifier": .string(address), "password": "this is not the password"]
            try expect(service.client.request("POST", "/session", body, headers), 401)
        }
        try measure(service, "The address of a recovery") { service, address, headers in
            try expect(service.client.request("PUT", "/recovery/email", ["email": .string(address)], headers), 200)
        } before: { service, headers in
            let started = try service.client.request("POST", "/recovery", ["transport": "bearer"], headers)
            guard let token = started.body.firstMatch(of: /"token":"([^"]+)"/) else {
                throw Service.Failure(description: "no recovery: \(started.status) \(started.body)")
            }
            return ["Authorization": "Bearer \(token.1)"]
        }
        try measure(service, "A mailed code for a new device") { service, address, headers in
            try expect(
                service.client.request("POST", "/session/code", ["identifier": .string(address)], headers),
                201
            )
        }
    }

    private static func expect(_ response: Client.Response, _ status: Int) throws {
        guard response.status == status else {
            throw Service.Failure(description: "\(response.status) \(response.body)")
        }
    }

    private static func prepare(_ database: borrowing Connection) throws {
        try database.run("TRUNCATE drafts, proofs, tickets, outbox, limits, accounts, sign_in_failures CASCADE")
        let keys = try KeyRing(Population.keys)
        for kind in Kind.allCases where kind != .none {
            for round in 0..<rounds {
                let (id, address) = (ID<Account>(), kind.address(round))
                let argon2 = PHCString(
                    parameters: Argon2Parameters(),
                    keyID: keys.pepper?.id,
                    salt: Array(repeating: 1, count: 16),
                    tag: Array(repeating: UInt8(round), count: 32)
                )
                let stored = kind.method.map { StoredPassword(argon2, over: $0) } ?? StoredPassword(argon2)
                _ = try database.query(
                    """
                    INSERT INTO accounts (id, email, profile, locale, flow, disabled_at)
                    SELECT \(id), \(address), '{}', 'en', 'default@1', CASE WHEN \(kind == .disabled) THEN now() END
                    """
                )
                _ = try database.query("INSERT INTO identifiers VALUES ('email', \(address), \(id))")
                _ = try database.query("INSERT INTO credentials VALUES (\(id), 'password', \(stored.rawValue))")
                if kind == .authenticator {
                    let sealed = keys.seal(Array(repeating: 0, count: 20), for: .authenticator(of: id))
                    _ = try database.query("INSERT INTO authenticators VALUES (\(id), \(sealed), 0)")
                }
            }
        }
        try database.run("VACUUM ANALYZE")
    }

    /// Sends and measures one request for each account, in random order, each from its own network.
    ///
    /// - Parameter before: sends a request that is not measured, and returns header fields for the measured request.
    private static func measure(
        _ service: Service,
        _ what: String,
        _ send: (Service, String, [String: String]) throws -> Void,
        before: (Service, [String: String]) throws -> [String: String] = { _, _ in [:] }
    ) throws {
        var chance = SeededChance(seed: 1)
        var times: [Kind: [Duration]] = [:]
        var number = 0
        for round in 0..<rounds {
            for kind in Kind.allCases.shuffled(using: &chance) {
                number += 1
                let network = ["X-Forwarded-For": Service.address(number)]
                let headers = try before(service, network).merging(network) { $1 }
                let start = ContinuousClock.now
                try send(service, kind.address(round), headers)
                times[kind, default: []].append(ContinuousClock.now - start)
            }
        }
        let base = times[Kind.none]!.sorted()
        var table = Table("account", "median ms", "p99 ms", "median − none ms", "KS p")
        for kind in Kind.allCases {
            let sorted = times[kind]!.sorted()
            let difference = sorted[rounds / 2] - base[rounds / 2]
            table.append(
                kind.rawValue,
                sorted[rounds / 2].text(in: .milliseconds(1)),
                sorted[rounds * 99 / 100].text(in: .milliseconds(1)),
                String(format: "%+.3f", difference / .milliseconds(1)) + (abs(difference) > target ? " !" : "  "),
                String(format: "%.3f  ", Enumeration.pValue(sorted, base))
            )
        }
        table.print(
            under: "\(what); \(rounds) requests each; the target is a difference of at most 1 ms between the medians"
        )
    }

    private static func abs(_ duration: Duration) -> Duration { duration < .zero ? .zero - duration : duration }
}
