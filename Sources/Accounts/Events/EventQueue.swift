internal import Foundation

/// The events and logouts that applications have not received: the rows of `deliveries` and `logouts`.
///
/// An application may get an event or a logout twice: if a server dies after a delivery and before it stores the
/// outcome, the delivery is repeated.
///
/// The transactions of this type do not wait for the disk (`synchronous_commit = off`). After a crash of PostgreSQL,
/// the latest of them may be missing: then a request is sent twice or too early, or a webhook that answered 410 is on
/// again. No event is lost, because other transactions write the events.
struct EventQueue: Sendable {
    let database: Database

    /// Runs the statements in one transaction, and does not wait for the disk. Returns the rows of the last statement.
    private func runWithAsynchronousCommit(_ statements: SQL...) async throws(DatabaseError) -> Rows {
        let rows = try await database.transaction([.setting("synchronous_commit", "off")] + statements)
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
        let claimID: UUID
    }

    /// A logout: the end of a grant, which is the access of one application to one session. This server has claimed the
    /// logout for one attempt to tell the application. The number of attempts identifies the claim, because no command
    /// resets this number: `events retry` resets only that of a ``Delivery``. If a crash of PostgreSQL has lost the
    /// claim, the next claim has the same number, and the two cannot be told apart.
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

    /// The ids of the applications for which an event is due now, and of those for which a logout is due now. `events`
    /// does not contain applications whose webhook is off or paused. An event may be due and still wait for an earlier
    /// one of its account.
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
    /// - Parameter limits: the maximum number of events for each application, by its id.
    func claimDeliveries(_ limits: [String: Int]) async throws(DatabaseError) -> [Delivery] {
        if limits.isEmpty { return [] }
        let claimID = UUID()
        let rows = try await runWithAsynchronousCommit(
            """
            SELECT application, attempts, event, type, sequence, created_at, account
              FROM claim_deliveries(\(Self.json(limits))::jsonb, \(claimID))
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
                    claimID: claimID
                )
            )
        }
        return deliveries
    }

    /// Claims due logouts for one attempt each.
    ///
    /// - Parameter limits: the maximum number of logouts for each application, by its id.
    func claimLogouts(_ limits: [String: Int]) async throws(DatabaseError) -> [Logout] {
        if limits.isEmpty { return [] }
        let rows = try await runWithAsynchronousCommit(
            """
            SELECT application, sid, account, attempts, created_at, now()
              FROM claim_logouts(\(Self.json(limits))::jsonb)
            """
        )
        var logouts: [Logout] = []
        for row in rows {
            var columns = row.columns
            logouts.append(
                Logout(
                    application: try columns.next(),
                    sid: try columns.next(),
                    account: try columns.next(),
                    attempts: try columns.next(),
                    createdAt: try columns.next(),
                    claimedAt: try columns.next()
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
    /// failures of the application to 0. A pause goes on, because the application may have asked for it in its answer
    /// to another event.
    func finish(_ delivery: Delivery) async throws(DatabaseError) {
        _ = try await runWithAsynchronousCommit(
            "DELETE FROM deliveries WHERE \(Self.isClaimed(delivery))",
            "UPDATE applications SET failures = 0 WHERE id = \(delivery.application) AND failures > 0"
        )
    }

    /// Stores a failed attempt. If this claim is still the current one, the event waits for its next attempt, or
    /// becomes `failed` if there is none. If an operator has retried the event since the claim, the event is due at
    /// once.
    ///
    /// Even if this claim is not the current one, counts a failure of the application. Also pauses its webhook if
    /// `pause` is not 0 or from the fifth failure in a row, and switches the webhook off if `disablesWebhook` is true.
    /// The application still gets logouts.
    ///
    /// - Parameters:
    ///   - delay: the seconds until the next attempt; nil if this was the last one.
    ///   - pause: the minimum number of seconds without events; 0 if this failure alone is no reason for a pause. From
    ///     the fifth failure in a row the pause may be longer.
    ///   - disablesWebhook: whether to switch the webhook off, until `events retry` of the application switches it on.
    func recordFailure(
        of delivery: Delivery,
        _ reason: String,
        retryIn delay: Int?,
        pausing pause: Int,
        disablesWebhook: Bool
    ) async throws(DatabaseError) {
        // If an operator has retried the event since the claim, its attempts are 0, and the statement makes it due at
        // once. If the event has to wait, the statement also postpones the later events of the account for this
        // application. They cannot be claimed until this event is delivered or becomes `failed`, so each search for due
        // events would read them in vain.
        let reschedule: SQL = """
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
        // From the fifth failure in a row, the application gets one event at a time (`claim_deliveries`), and none for
        // 2 seconds after that failure. Each further failure doubles the pause, up to 64 seconds. `failures` does not
        // count this failure yet.
        let pauseSeconds: SQL = """
            greatest(\(pause)::bigint, CASE WHEN failures < 4 THEN 0 ELSE 2 ^ least(failures - 3, 6) END)
            """
        _ = try await runWithAsynchronousCommit(
            reschedule,
            """
            UPDATE applications
               SET failures = failures + 1, state = CASE WHEN \(disablesWebhook) THEN 'off' ELSE state END,
                   paused_until = greatest(paused_until, now() + make_interval(secs => \(pauseSeconds)))
             WHERE id = \(delivery.application)
            """
        )
    }

    private static func isClaimed(_ delivery: Delivery) -> SQL {
        "event = \(delivery.event.id) AND application = \(delivery.application) AND claim = \(delivery.claimID)"
    }

    // MARK: - Logouts

    /// Deletes the logout, because the application has accepted it. Deletes it even if another server has claimed it
    /// since, because the application knows of it now.
    func finish(_ logout: Logout) async throws(DatabaseError) {
        _ = try await runWithAsynchronousCommit("DELETE FROM logouts WHERE sid = \(logout.sid)")
    }

    /// Deletes a logout that the application has not accepted, if this claim is still the current one. Returns whether
    /// it is. If not, the server that has claimed the logout since decides.
    func giveUp(_ logout: Logout) async throws(DatabaseError) -> Bool {
        try await !runWithAsynchronousCommit(
            "DELETE FROM logouts WHERE sid = \(logout.sid) AND attempts = \(logout.attempts) RETURNING sid"
        ).isEmpty
    }

    /// Stores a failed attempt, if this claim is still the current one.
    ///
    /// - Parameter delay: the seconds until the next attempt.
    func recordFailure(of logout: Logout, _ reason: String, retryIn delay: Int) async throws(DatabaseError) {
        _ = try await runWithAsynchronousCommit(
            """
            UPDATE logouts SET due_at = now() + make_interval(secs => \(delay)), last_error = \(reason)
             WHERE sid = \(logout.sid) AND attempts = \(logout.attempts)
            """
        )
    }
}

extension SQL {
    /// A statement that locks the deliveries that match, ordered by application, account and sequence. A transaction
    /// must lock several deliveries of an account in this order, and rows of `applications` only after deliveries.
    /// Otherwise it could deadlock with ``EventQueue/recordFailure(of:_:retryIn:pausing:disablesWebhook:)``.
    static func lockDeliveries(where condition: SQL) -> SQL {
        """
        SELECT count(*) FROM (
            SELECT FROM deliveries WHERE \(condition) ORDER BY application, account, sequence FOR UPDATE) AS locked
        """
    }
}
