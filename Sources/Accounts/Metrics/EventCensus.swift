extension Database {
    /// The maximum number of rows in one count. `waiting` is for the waiting events of one application; the gauge of
    /// their age is about the counted events only. `others` is for the failed events of all applications together, and
    /// for the logouts of all of them.
    private static let maximumCounted = (waiting: 10_000, others: 100_000)

    /// Gauges of the events and logouts that applications have not received, by application. An application without a
    /// webhook has no gauges of events, and one without a logout URI has none of logouts.
    func eventCensus() async throws(DatabaseError) -> [Family] {
        let results = try await transaction(
            // JIT is off, because compiling the query takes longer than running it.
            "SELECT set_config('statement_timeout', '3s', true), set_config('jit', 'off', true)",
            """
            SELECT applications.id, has_webhook, backchannel_logout, state = 'off', waiting.count,
                   \(Self.seconds(since: "created_at")), \(Self.seconds(since: "due"))
              FROM applications CROSS JOIN LATERAL (
                  -- The ids of events begin with their time.
                  SELECT count(*), min(event::text COLLATE "C")::uuid AS oldest, min(due_at) AS due
                    FROM (SELECT event, due_at FROM deliveries WHERE application = applications.id AND state = 'waiting'
                           ORDER BY due_at LIMIT \(Self.maximumCounted.waiting)) AS one
              ) AS waiting LEFT JOIN events ON events.id = oldest
             ORDER BY applications.id
            """,
            Self.failedCount,
            Self.count(of: "logouts")
        )
        let (failed, logouts) = (try Self.counts(results[2]), try Self.counts(results[3]))
        var census = EventCensus()
        for row in results[1] {
            let (id, hasWebhook, hasLogout, isOff, waiting, age, overdue) = try row.decode(
                String.self,
                Bool.self,
                Bool.self,
                Bool.self,
                Int.self,
                Int.self,
                Int.self
            )
            if hasWebhook {
                census.waiting.append((id, Double(waiting)))
                census.age.append((id, Double(age)))
                census.overdue.append((id, Double(overdue)))
                census.failed.append((id, Double(failed[id] ?? 0)))
                census.off.append((id, isOff ? 1 : 0))
            }
            if hasLogout { census.logouts.append((id, Double(logouts[id] ?? 0))) }
        }
        return census.families
    }

    /// A query for the number of failed events of each application.
    static let failedCount = count(of: "deliveries WHERE state = 'failed'")

    /// An SQL expression: the seconds since that time; 0 if the time is null or in the future.
    private static func seconds(since time: SQL) -> SQL {
        "greatest(extract(epoch FROM now() - \(time)), 0)::bigint"
    }

    /// A query that counts rows by application, at most `maximumCounted.others` in all.
    ///
    /// - Parameter rows: the text after `FROM`: a table with a column `application`, and a condition if there is one.
    private static func count(of rows: SQL) -> SQL {
        """
        SELECT application, count(*)
          FROM (SELECT application FROM \(rows) LIMIT \(maximumCounted.others)) AS counted GROUP BY application
        """
    }

    private static func counts(_ rows: Rows) throws(DatabaseError) -> [String: Int] {
        var counts: [String: Int] = [:]
        for row in rows {
            let (application, count) = try row.decode(String.self, Int.self)
            counts[application] = count
        }
        return counts
    }
}

/// The values of each gauge, by application.
private struct EventCensus {
    var waiting: [(String, Double)] = []
    var age: [(String, Double)] = []
    var overdue: [(String, Double)] = []
    var failed: [(String, Double)] = []
    var off: [(String, Double)] = []
    var logouts: [(String, Double)] = []

    var families: [Family] {
        let all = [
            ("accounts_events_waiting", "Events that wait for delivery to the webhook, counted up to 10000.", waiting),
            ("accounts_events_waiting_seconds", "Age of the oldest waiting event.", age),
            ("accounts_events_overdue_seconds", "Time since the first waiting event became due.", overdue),
            ("accounts_events_failed", "Events that were given up after the last attempt.", failed),
            ("accounts_webhook_off", "1 if the webhook has answered 410 and gets no events, otherwise 0.", off),
            ("accounts_logouts_waiting", "Logouts that the application has not received yet.", logouts),
        ]
        return all.map { name, help, values in .gauge(name, help, by: "application", values) }
    }
}
