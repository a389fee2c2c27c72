internal import Foundation

extension Signups {
    /// Returns a statement that inserts a session.
    ///
    /// - Parameters:
    ///   - tokenHash: the hash of the session's token.
    ///   - account: a subquery with the column `id`. If it has no row, the statement inserts nothing.
    ///   - nonce: the random bytes from which a commit derives the session's token; nil for any other session.
    func insertSession(
        _ id: ID<AccountSession>,
        tokenHash: [UInt8],
        of account: SQL,
        _ assurance: Assurance,
        _ methods: SignInMethods,
        isKept: Bool = false,
        browser: String?,
        nonce: [UInt8]? = nil
    ) -> SQL {
        let origin: JSON = [
            "network": .string(network.description), "browser": browser.map(JSON.string) ?? .null,
        ]
        return """
            INSERT INTO sessions (id, account, token_hash, assurance, methods, is_kept, idle_after, ends_at, nonce, sealed)
            SELECT \(id), id, \(tokenHash), \(assurance.rawValue), \(methods.text), \(isKept),
                   make_interval(secs => \(assurance.idleTime(isKept: isKept).seconds)),
                   now() + make_interval(secs => \(assurance.lifetime(isKept: isKept).seconds)), \(nonce),
                   \(keys.seal(origin.bytes, for: .session(id)))
              FROM \(account)
            """
    }

    /// Returns a statement that stores the time of the first sign-in to the account. It returns the flow of the
    /// account, and the seconds since the account was created; no row if the person has signed in before.
    ///
    /// - Parameter account: a subquery named `account` with the column `id`. If it has no row, the statement does
    ///   nothing.
    func noteFirstSignIn(to account: SQL) -> SQL {
        """
        UPDATE accounts SET signed_in_at = now() FROM \(account)
         WHERE accounts.id = account.id AND accounts.signed_in_at IS NULL
        RETURNING accounts.flow, extract(epoch FROM now() - accounts.created_at)::bigint
        """
    }

    /// Counts the first sign-in for the funnel, if ``noteFirstSignIn(to:)`` has returned a row.
    func countFirstSignIn(_ rows: Rows) throws(DatabaseError) {
        guard let row = rows.first else { return }
        let (flow, seconds) = try row.decode(String.self, Int.self)
        funnel.answered(Funnel.signIn, ofFlow: flow, after: TimeInterval(seconds))
    }

    /// Returns a statement that keeps the ``AccountSession/maximum`` most recently used sessions of the account, and
    /// ends the others, if the condition is true. Without it, a program that signs in again and again would fill the
    /// table.
    func endExcessSessions(of account: ID<Account>, when condition: SQL) -> SQL {
        """
        DELETE FROM sessions WHERE \(condition) AND id IN (
            SELECT id FROM sessions WHERE account = \(account)
             ORDER BY last_seen_at DESC, id DESC OFFSET \(AccountSession.maximum))
        """
    }
}

extension AccountSession {
    /// The maximum number of sessions of one account.
    package static let maximum = 100
}

extension SealedPlace {
    static func session(_ id: ID<AccountSession>) -> SealedPlace { SealedPlace(table: "sessions", row: id.bytes) }
    static func signIn(_ id: ID<PendingSignIn>) -> SealedPlace { SealedPlace(table: "sign_ins", row: id.bytes) }
}

extension Network: CustomStringConvertible {
    /// The IPv4 address, or the IPv6 network with its length, such as `2001:db8::/64`; `unknown` if the address is
    /// unknown.
    package var description: String {
        switch prefix.count {
        case 4: return prefix.map { "\($0)" }.joined(separator: ".")
        case 0: return "unknown"
        default:
            let bytes = prefix + Array(repeating: 0, count: 16 - prefix.count)
            var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
            guard inet_ntop(AF_INET6, bytes, &text, socklen_t(text.count)) != nil else { return "unknown" }
            return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self) + "/\(8 * prefix.count)"
        }
    }
}
