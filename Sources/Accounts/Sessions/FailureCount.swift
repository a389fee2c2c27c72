/// A count of failures. Each guess is counted as a failure first. If the count is then above the maximum, the guess is
/// refused without being evaluated. After a right guess, ``Signups/forgive(_:isKnown:when:)`` changes the counts.
struct FailureCount: Sendable {
    /// Keyed digests that identify the count: one for each of the first two keys of the key ring.
    let subjects: [[UInt8]]
    let maximum: Int
    /// The count begins again if this time passes without a guess that is counted here.
    let memory: Duration
}

/// The counts to which a guess is added. Each guess is counted before it is evaluated, so that parallel guesses cannot
/// exceed a maximum.
///
/// Guesses of passwords and mailed codes are counted by the typed address or username, not by the account, because an
/// address or username without an account must behave like one with an account. An account has at most one address and
/// one username, so unknown devices have at most 100 guesses at its password in a row (NIST SP 800-63B-4 §3.2.2). After
/// an operator has removed the authenticator of an account with an address, they have none
/// (``Operator/removeAuthenticator(of:)``).
struct FailureCounts: Sendable {
    /// The failures on all devices that the account does not know, or on all devices if the guess is a mailed code or
    /// part of a recovery.
    let ofStrangers: FailureCount
    /// The failures on the same devices, counted only in the network of the client.
    let ofNetwork: FailureCount
    /// The failures on the client's device, which are counted in place of the other two if the account knows the
    /// device. Nil if the client has no device token, or if the guess is a mailed code or part of a recovery.
    let ofDevice: FailureCount?
}

extension Signups {
    /// Returns the counts of guesses at a factor.
    ///
    /// - Parameters:
    ///   - factor: the name of what is guessed, such as the password.
    ///   - subject: the target of the guesses: a typed address or username, or an account.
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

    /// Returns statements that count one failure. If a count exceeds its maximum, ``hasTooManyFailures`` is true for
    /// the rest of the transaction. If ``FailureCounts/ofNetwork`` exceeds its maximum, the failure does not add to
    /// ``FailureCounts/ofStrangers``.
    ///
    /// - Parameters:
    ///   - isKnown: whether the account knows the device.
    ///   - condition: whether the failure is counted.
    func count(_ counts: FailureCounts, isKnown: SQL, when condition: SQL) -> [SQL] {
        [
            counts.ofDevice.map { increment($0, when: "\(condition) AND \(isKnown)") },
            increment(counts.ofNetwork, when: "\(condition) AND NOT \(isKnown)"),
            increment(counts.ofStrangers, when: "\(condition) AND NOT \(isKnown) AND NOT \(Self.hasTooManyFailures)"),
        ].compactMap { $0 }
    }

    private func increment(_ count: FailureCount, when condition: SQL) -> SQL {
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

    /// Returns the limit that the failure has exceeded; nil if there is none.
    ///
    /// - Parameters:
    ///   - name: the name of the limit for clients.
    ///   - network: the result of the statement that counts the failure in ``FailureCounts/ofNetwork``.
    ///   - strangers: the result of the next statement, which counts the failure in ``FailureCounts/ofStrangers``.
    func exceeded(
        _ counts: FailureCounts,
        named name: String,
        _ network: Rows,
        _ strangers: Rows
    ) throws(DatabaseError) -> LimitReached? {
        guard let count = network.isEmpty ? strangers.isEmpty ? nil : counts.ofStrangers : counts.ofNetwork else {
            return nil
        }
        return reached(named: name, Limit(count.maximum, per: count.memory), wait: count.memory)
    }

    /// Whether an earlier statement of the transaction has counted a failure above a maximum.
    static let hasTooManyFailures: SQL = flag("too_many_failures")

    /// Returns statements to run after a right answer. If the account knows the device, they delete
    /// ``FailureCounts/ofDevice``. Otherwise they delete ``FailureCounts/ofNetwork``, and subtract only this guess from
    /// ``FailureCounts/ofStrangers``.
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
