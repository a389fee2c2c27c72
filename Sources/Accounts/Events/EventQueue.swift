internal import Foundation

/// What waits for applications: the rows of `deliveries` and `logouts`.
///
/// An application gets everything at least once: a server that dies may have delivered what another one delivers again.
/// So these transactions need not wait for the disk.
struct EventQueue: Sendable {
    let database: Database

    private static let withoutFlush: SQL = "SET LOCAL synchronous_commit = off"

    /// An event that this server delivers to one application now.
    struct Delivery: Sendable {
        let application: String
        /// With the attempt that the claim has begun.
        let attempts: Int
        let event: AccountEvent
        /// Tells this attempt from all others.
        let claim: UUID
    }

    /// The end of a grant, of which this server tells its application now.
    struct Logout: Sendable {
        let application: String
        /// The id of the grant.
        let sid: UUID
        let account: ID<Account>
        /// With the attempt that the claim has begun.
        let attempts: Int
        let createdAt, now: Date
    }

    /// Claims due events for one attempt each.
    ///
    /// - Parameter places: the maximum number for each application.
    func claimDeliveries(_ places: [String: Int]) async throws(DatabaseError) -> [Delivery] {
        if places.isEmpty { return [] }
        let claim = UUID()
        let rows = try await database.transaction(
            Self.withoutFlush,
            """
            SELECT application, attempts, event, type, sequence, created_at, account
              FROM claim_deliveries(\(Self.json(places))::jsonb, \(claim))
            """
        )[1]
        var deliveries: [Delivery] = []
        for row in rows {
            var columns = row.columns
            deliveries.append(
                Delivery(
                    application: try columns.next(),
                    attempts: try columns.next(),
                    event: try AccountEvent(&columns),
                    claim: claim
                )
            )
        }
        return deliveries
    }

    /// Claims due logouts for one attempt each.
    func claimLogouts(_ places: [String: Int]) async throws(DatabaseError) -> [Logout] {
        if places.isEmpty { return [] }
        let rows = try await database.transaction(
            Self.withoutFlush,
            """
            SELECT application, sid, account, attempts, created_at, now()
              FROM claim_logouts(\(Self.json(places))::jsonb)
            """
        )[1]
        var logouts: [Logout] = []
        for row in rows {
            let (application, sid, account, attempts, createdAt, now) = try row.decode(
                String.self,
                UUID.self,
                ID<Account>.self,
                Int.self,
                Date.self,
                Date.self
            )
            logouts.append(
                Logout(
                    application: application,
                    sid: sid,
                    account: account,
                    attempts: attempts,
                    createdAt: createdAt,
                    now: now
                )
            )
        }
        return logouts
    }

    private static func json(_ places: [String: Int]) -> String {
        JSON.object(places.sorted { $0.key < $1.key }.map { .init($0, .integer($1)) }).text
    }

    // MARK: - Events

    /// Deletes the delivery, unless the claim has ended and another server makes an attempt.
    func finish(_ delivery: Delivery) async throws(DatabaseError) {
        _ = try await database.transaction(
            Self.withoutFlush,
            "DELETE FROM deliveries WHERE \(Self.isClaimed(delivery))",
            """
            UPDATE applications SET failures = 0, paused_until = now()
             WHERE id = \(delivery.application) AND failures > 0
            """
        )
    }

    /// Leaves the event to its next attempt, unless the claim has ended and another server makes one.
    ///
    /// - Parameters:
    ///   - delay: the seconds until the next attempt; nil if this was the last one.
    ///   - pause: the seconds for which the application gets nothing.
    ///   - turnsOff: whether the application wants nothing any more, until an operator retries.
    func postpone(
        _ delivery: Delivery,
        _ reason: String,
        by delay: Int?,
        pausing pause: Int,
        turnsOff: Bool
    ) async throws(DatabaseError) {
        // An operator who has retried the event meanwhile has set its attempts to 0: the next one follows at once. Those
        // behind it wait for it. They are due with it, so that no claim reads them before.
        let postponement: SQL = """
            WITH postponed AS (
                UPDATE deliveries
                   SET due_at = now() + make_interval(secs => CASE attempts WHEN 0 THEN 0 ELSE coalesce(\(delay), 0) END),
                       state = CASE attempts WHEN 0 THEN 'waiting' ELSE \(delay == nil ? "failed" : "waiting") END,
                       last_error = \(reason), claim = NULL
                 WHERE \(Self.isClaimed(delivery)) RETURNING due_at
            )
            UPDATE deliveries AS later SET due_at = postponed.due_at FROM postponed
             WHERE application = \(delivery.application) AND account = \(delivery.event.account) AND state <> 'failed'
               AND sequence > \(delivery.event.sequence) AND claim IS NULL
               AND later.due_at < postponed.due_at AND postponed.due_at > now()
            """
        // From the fifth failure in a row, the application is down, and gets a request only now and then.
        let pause: SQL = """
            greatest(\(pause)::bigint, CASE WHEN failures < 4 THEN 0 ELSE 2 ^ least(failures - 3, 6) END)
            """
        _ = try await database.transaction(
            Self.withoutFlush,
            postponement,
            """
            UPDATE applications
               SET failures = failures + 1, state = CASE WHEN \(turnsOff) THEN 'off' ELSE state END,
                   paused_until = greatest(paused_until, now() + make_interval(secs => \(pause)))
             WHERE id = \(delivery.application)
            """
        )
    }

    private static func isClaimed(_ delivery: Delivery) -> SQL {
        "event = \(delivery.event.id) AND application = \(delivery.application) AND claim = \(delivery.claim)"
    }

    // MARK: - Logouts

    /// Deletes the logout: the application knows of it, or cannot be told.
    func finish(_ logout: Logout) async throws(DatabaseError) {
        _ = try await database.transaction(Self.withoutFlush, "DELETE FROM logouts WHERE sid = \(logout.sid)")
    }

    func postpone(_ logout: Logout, _ reason: String, by delay: Int) async throws(DatabaseError) {
        _ = try await database.transaction(
            Self.withoutFlush,
            """
            UPDATE logouts SET due_at = now() + make_interval(secs => \(delay)), last_error = \(reason)
             WHERE sid = \(logout.sid) AND attempts = \(logout.attempts)
            """
        )
    }
}
