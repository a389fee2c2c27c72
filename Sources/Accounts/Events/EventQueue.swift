internal import Foundation

/// The events and logouts that wait for applications: the rows of `deliveries` and `logouts`.
///
/// An application may get one of them twice: if a server dies after it has delivered one, another server delivers it
/// again. If PostgreSQL loses a write of this queue in a crash, requests are repeated or come too early, and nothing else
/// is lost, so these transactions do not wait for the disk.
struct EventQueue: Sendable {
    let database: Database

    /// Runs the statements in one transaction, and does not wait for the disk. Returns the rows of the last statement.
    private func runWithoutFlush(_ statements: SQL...) async throws(DatabaseError) -> Rows {
        let rows = try await database.transaction(["SET LOCAL synchronous_commit = off"] + statements)
        return rows[rows.count - 1]
    }

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

    /// A logout, which is the end of a grant. This server has claimed it for one attempt to tell the application. The
    /// number of attempts identifies the claim.
    struct Logout: Sendable {
        let application: String
        /// The id of the grant.
        let sid: UUID
        let account: ID<Account>
        /// The number of attempts, including the claimed one.
        let attempts: Int
        let createdAt: Date
        /// The time of the claim by the clock of the database.
        let claimedAt: Date
    }

    /// The ids of the applications for which an event or a logout is due now. An event may be due and still wait for an
    /// earlier one of its account.
    func dueApplications() async throws(DatabaseError) -> (events: [String], logouts: [String]) {
        let rows = try await database.read("SELECT application, has_event, has_logout FROM due_applications()")
        var (events, logouts): ([String], [String]) = ([], [])
        for row in rows {
            let (id, hasEvent, hasLogout) = try row.decode(String.self, Bool.self, Bool.self)
            if hasEvent { events.append(id) }
            if hasLogout { logouts.append(id) }
        }
        return (events, logouts)
    }

    /// Claims due events for one attempt each.
    ///
    /// - Parameter maximum: the maximum number of events for each application, by its id.
    func claimDeliveries(_ maximum: [String: Int]) async throws(DatabaseError) -> [Delivery] {
        if maximum.isEmpty { return [] }
        let claim = UUID()
        let rows = try await runWithoutFlush(
            """
            SELECT application, attempts, event, type, sequence, created_at, account
              FROM claim_deliveries(\(Self.json(maximum))::jsonb, \(claim))
            """
        )
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
    /// - Parameter maximum: the maximum number of logouts for each application, by its id.
    func claimLogouts(_ maximum: [String: Int]) async throws(DatabaseError) -> [Logout] {
        if maximum.isEmpty { return [] }
        let rows = try await runWithoutFlush(
            """
            SELECT application, sid, account, attempts, created_at, now()
              FROM claim_logouts(\(Self.json(maximum))::jsonb)
            """
        )
        var logouts: [Logout] = []
        for row in rows {
            let (application, sid, account, attempts, createdAt, claimedAt) = try row.decode(
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
                    claimedAt: claimedAt
                )
            )
        }
        return logouts
    }

    private static func json(_ numbers: [String: Int]) -> String {
        JSON.object(numbers.sorted { $0.key < $1.key }.map { .init($0, .integer($1)) }).text
    }

    // MARK: - Events

    /// Deletes a delivery that has succeeded, if this claim is still the current one. In any case, sets the number of
    /// failures of the application to 0. A pause goes on, because the application may have asked for it in its answer to
    /// another event.
    func finish(_ delivery: Delivery) async throws(DatabaseError) {
        _ = try await runWithoutFlush(
            "DELETE FROM deliveries WHERE \(Self.isClaimed(delivery))",
            "UPDATE applications SET failures = 0 WHERE id = \(delivery.application) AND failures > 0"
        )
    }

    /// Stores a failed attempt. If this claim is still the current one, the event waits for its next attempt, or has
    /// failed after the last one. In any case, counts a failure of the application. Pauses it, or
    /// turns it off, if the parameters or its failures require that.
    ///
    /// - Parameters:
    ///   - delay: the seconds until the next attempt; nil if this was the last one.
    ///   - pause: the seconds for which the application gets no events, at least; 0 if its answer asks for no pause. From the
    ///     fifth failure in a row the pause may be longer.
    ///   - turnsOff: whether the application gets no more events until an operator retries them.
    func recordFailure(
        of delivery: Delivery,
        _ reason: String,
        retryIn delay: Int?,
        pausing pause: Int,
        turnsOff: Bool
    ) async throws(DatabaseError) {
        // If an operator has retried the event since the claim, its attempts are 0, and the next attempt follows at
        // once. The later events of the account that already wait become due at the same time as this one, so that claims
        // until then do not read them in vain.
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
        // From the fifth failure in a row, the application gets one event at a time (`claim_deliveries`), and none for 2
        // seconds after that failure. Each further failure doubles the pause, up to 64 seconds. `failures` does not count
        // this failure yet.
        let longerPause: SQL = """
            greatest(\(pause)::bigint, CASE WHEN failures < 4 THEN 0 ELSE 2 ^ least(failures - 3, 6) END)
            """
        _ = try await runWithoutFlush(
            postponement,
            """
            UPDATE applications
               SET failures = failures + 1, state = CASE WHEN \(turnsOff) THEN 'off' ELSE state END,
                   paused_until = greatest(paused_until, now() + make_interval(secs => \(longerPause)))
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
        _ = try await runWithoutFlush("DELETE FROM logouts WHERE sid = \(logout.sid)")
    }

    /// Stores a failed attempt, if this claim is still the current one.
    ///
    /// - Parameter delay: the seconds until the next attempt.
    func recordFailure(of logout: Logout, _ reason: String, retryIn delay: Int) async throws(DatabaseError) {
        _ = try await runWithoutFlush(
            """
            UPDATE logouts SET due_at = now() + make_interval(secs => \(delay)), last_error = \(reason)
             WHERE sid = \(logout.sid) AND attempts = \(logout.attempts)
            """
        )
    }
}
