internal import Foundation

/// The events and logouts that wait for applications: the rows of `deliveries` and `logouts`.
///
/// An application gets each of them at least once. If a server dies after it has delivered one, another server delivers
/// it again. A transaction that is lost in a crash of PostgreSQL has the same effect, so these transactions do not wait
/// for the disk.
struct EventQueue: Sendable {
    let database: Database

    private static let withoutFlush: SQL = "SET LOCAL synchronous_commit = off"

    /// An event that this server has claimed for one attempt to deliver it to one application.
    struct Delivery: Sendable {
        let application: String
        /// The number of attempts, including the claimed one.
        let attempts: Int
        let event: AccountEvent
        /// Identifies the claim, so that a server whose claim has expired changes nothing that another server has
        /// claimed.
        let claim: UUID
    }

    /// The end of a grant that this server has claimed for one attempt to tell the application.
    struct Logout: Sendable {
        let application: String
        /// The id of the grant.
        let sid: UUID
        let account: ID<Account>
        /// The number of attempts, including the claimed one.
        let attempts: Int
        let createdAt, now: Date
    }

    /// Claims due events for one attempt each.
    ///
    /// - Parameter places: the maximum number of events for each application, by its id.
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
    ///
    /// - Parameter places: the maximum number of logouts for each application, by its id.
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

    /// Deletes a delivery that has succeeded, unless the claim has expired and another one was made. Ends the pause of
    /// the application, and sets the number of its failures to 0.
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

    /// Stores a failed attempt. The event waits for its next attempt, or has failed after the last one, unless the
    /// claim has expired and another one was made. Counts a failure of the application.
    ///
    /// - Parameters:
    ///   - delay: the seconds until the next attempt; nil if this was the last one.
    ///   - pause: the seconds for which the application gets no events; 0 for no pause.
    ///   - turnsOff: whether the application gets no more events until an operator retries them.
    func postpone(
        _ delivery: Delivery,
        _ reason: String,
        by delay: Int?,
        pausing pause: Int,
        turnsOff: Bool
    ) async throws(DatabaseError) {
        // If an operator has retried the event since the claim, its attempts are 0, and the next attempt follows at
        // once. Later events of the account wait for this one. They become due at the same time, so that no claim reads
        // them in vain before.
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
        // From the fifth failure in a row, the application counts as down. It then gets no events for 2 seconds after a
        // failure, and for twice as long after each further one, up to 64 seconds.
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

    /// Deletes the logout, because the application has accepted it, or because this service gives up.
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
