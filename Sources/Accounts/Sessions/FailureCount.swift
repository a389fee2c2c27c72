/// A count of failures in a row, and the number from which on guesses are not evaluated any more.
struct FailureCount: Sendable {
    /// Keyed digests, under the first two keys of the ring.
    let subjects: [[UInt8]]
    let maximum: Int
    /// The time after the last failure after which the count is forgotten.
    let memory: Duration
}

/// The counts that a guess belongs to. Each guess is counted before it is evaluated, so that parallel guesses cannot
/// exceed a maximum.
///
/// What a person typed is counted, not the account: an address or a username without an account must behave like one
/// with an account. An account has at most two identifiers, so strangers have at most 100 guesses at its password in a
/// row (NIST SP 800-63B-4 §3.2.2). After the removal of a lost authenticator they have none
/// (``Operator/removeAuthenticator(of:)``).
struct FailureCounts: Sendable {
    /// All devices that are unknown to the account.
    let ofStrangers: FailureCount
    /// Those in the network of the client.
    let ofNetwork: FailureCount
    /// The device of the client if the account knows it; then the other two do not count. Nil if the client has none.
    let ofDevice: FailureCount?
}

extension Signups {
    /// - Parameters:
    ///   - factor: what is guessed, such as the password.
    ///   - subject: what is attacked: what was typed, or an account.
    func failureCounts(_ factor: String, _ subject: [UInt8], _ device: DeviceToken?) -> FailureCounts {
        func count(_ part: String, _ other: [UInt8], _ maximum: Int, _ memory: Duration) -> FailureCount {
            let parts = ["sign-in failures", factor, part].map { Array($0.utf8) } + [subject, other]
            return FailureCount(subjects: keys.limitDigests(parts), maximum: maximum, memory: memory)
        }
        return FailureCounts(
            ofStrangers: count("strangers", [], 50, .seconds(30 * 86_400)),
            ofNetwork: count("network", network.site.prefix, 10, .seconds(3600)),
            ofDevice: device.map { count("device", $0.digest, 20, .seconds(86_400)) }
        )
    }

    /// Statements that count one failure. If a maximum is exceeded, ``hasTooManyFailures`` is true for the rest of the
    /// transaction. A network that exceeds its own maximum does not add to the count of all strangers.
    ///
    /// - Parameters:
    ///   - isKnown: whether the account knows the device.
    ///   - condition: nothing is counted if it is false.
    func count(_ counts: FailureCounts, isKnown: SQL, when condition: SQL) -> [SQL] {
        [
            counts.ofDevice.map { count($0, when: "\(condition) AND \(isKnown)") },
            count(counts.ofNetwork, when: "\(condition) AND NOT \(isKnown)"),
            count(counts.ofStrangers, when: "\(condition) AND NOT \(isKnown) AND NOT \(Self.hasTooManyFailures)"),
        ].compactMap { $0 }
    }

    private func count(_ count: FailureCount, when condition: SQL) -> SQL {
        """
        WITH counted AS (
            INSERT INTO sign_in_failures AS stored (subject, count, until)
            SELECT subject, 1, now() + make_interval(secs => \(count.memory.seconds))
              FROM unnest(\(ByteStrings(count.subjects))) AS subject WHERE \(condition) ORDER BY subject
            ON CONFLICT (subject) DO UPDATE
               SET count = CASE WHEN stored.until < now() THEN 1 ELSE stored.count + 1 END, until = excluded.until
            RETURNING count
        )
        SELECT \(Self.setFlag("too_many_failures", "true")) FROM counted WHERE count > \(count.maximum) LIMIT 1
        """
    }

    /// The limit that the counts have reached; nil if they have not.
    ///
    /// - Parameters:
    ///   - network: the result of the statement that counts the failures of the network.
    ///   - strangers: the result of the one after it.
    func exceeded(
        _ counts: FailureCounts,
        _ network: Rows,
        _ strangers: Rows
    ) throws(DatabaseError) -> LimitReached? {
        guard let count = network.isEmpty ? strangers.isEmpty ? nil : counts.ofStrangers : counts.ofNetwork else {
            return nil
        }
        return reached(
            Limits.Name.guessesForAddress.rawValue,
            Limit(count.maximum, per: count.memory),
            wait: count.memory
        )
    }

    static let hasTooManyFailures: SQL = flag("too_many_failures")

    /// Statements that follow the right answer. They take back the failure that was counted before it, and end the row of
    /// failures of the device or the network. The other failures of strangers stay.
    func forgive(_ counts: FailureCounts, isKnown: Bool, when condition: SQL) -> [SQL] {
        let ended = isKnown ? counts.ofDevice?.subjects ?? [] : counts.ofNetwork.subjects
        return [
            "DELETE FROM sign_in_failures WHERE subject = ANY (\(ByteStrings(ended))) AND \(condition)",
            """
            UPDATE sign_in_failures SET count = count - 1
             WHERE subject = ANY (\(ByteStrings(counts.ofStrangers.subjects))) AND count > 0
               AND NOT \(isKnown) AND \(condition)
            """,
        ]
    }
}
