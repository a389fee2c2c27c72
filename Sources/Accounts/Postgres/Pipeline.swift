internal import CPostgres
internal import Foundation

/// A connection in pipeline mode: sends many statements with one Sync, then receives all results.
struct Pipeline: ~Copyable {
    private let connection: Connection
    /// The time after which a connection without an answer counts as lost.
    private let answerTimeout: Duration
    /// The names of the statements that are prepared in this session.
    private var prepared: [Signature: String] = [:]
    /// The number of names that were given to statements in this session.
    private var nameCount = 0
    /// The time when the latest exchange counts as slow, and the function to call then; nil before this exchange is
    /// sent and after the call.
    private var slow: (at: ContinuousClock.Instant, report: () -> Void)?

    /// The duration after which an exchange counts as slow. A commit on a fast disk takes less.
    static let slowThreshold = Duration.milliseconds(1)

    enum Outcome {
        /// The rows of each statement, for each job.
        case committed([[Rows]])
        /// All jobs were rolled back. `culprit` is the index of the job whose statement was refused; nil if the
        /// commit failed, for example because of a deferred constraint or a serialization failure.
        case undone(culprit: Int?, DatabaseError.Diagnosis)
    }

    /// Identifies a statement: the same text with values of other types is another statement.
    fileprivate struct Signature: Hashable {
        let text: String
        let types: [SQLType]
    }

    /// An expected result, in the order of sending.
    fileprivate enum Awaited {
        case preparation(Signature, name: String, job: Int)
        case rows(job: Int)
        case sync
    }

    /// - Parameters:
    ///   - statementTimeout: the maximum time of a statement.
    ///   - lockTimeout: the maximum wait of a statement for a lock.
    init(
        _ connection: consuming Connection,
        statementTimeout: Duration = StatementTimeouts.standard.statement,
        lockTimeout: Duration
    ) throws(DatabaseError) {
        self.connection = connection
        answerTimeout = statementTimeout + .seconds(5)
        guard self.connection.acceptsWrites else { throw .unavailable("the server is a standby or read-only") }
        guard PQsetnonblocking(self.connection.raw, 1) == 0, PQenterPipelineMode(self.connection.raw) == 1 else {
            throw .unavailable(self.connection.message)
        }
        let outcome: Outcome
        do throws(DatabaseError) {
            outcome = try exchange([Self.settings(statementTimeout, lockTimeout)])
        } catch {
            throw .unavailable("\(error)")
        }
        guard case .committed = outcome else { throw .unavailable("the server refused the session settings") }
    }

    /// The settings of the session that every statement relies on: the time zone UTC, and the timeouts of statements
    /// and locks.
    private static func settings(_ statementTimeout: Duration, _ lockTimeout: Duration) -> [SQL] {
        [
            "SET TimeZone = 'UTC'",
            SQL(stringLiteral: "SET statement_timeout = \(Int(statementTimeout / .milliseconds(1)))"),
            SQL(stringLiteral: "SET lock_timeout = \(Int(lockTimeout / .milliseconds(1)))"),
        ]
    }

    /// True if the session has so many prepared statements that a new session should replace it. Statements contain the
    /// names of partitions, so new ones are prepared each day.
    var hasTooManyStatements: Bool { nameCount > 200 }

    var socket: Int32 { PQsocket(connection.raw) }

    /// Reads the data that PostgreSQL sends without a request. Throws if it has closed the connection.
    func readWhileIdle() throws(DatabaseError) {
        guard PQconsumeInput(connection.raw) == 1, PQstatus(connection.raw) == CONNECTION_OK else { throw lost }
        // An idle connection in pipeline mode receives only notices, changed settings, and the end of the session.
        while PQisBusy(connection.raw) == 0, let result = PQgetResult(connection.raw) { PQclear(result) }
        guard PQstatus(connection.raw) == CONNECTION_OK else { throw lost }
    }

    /// Runs the statements of all jobs (``Job``) in one transaction and one round trip. Throws only `outcomeUnknown`,
    /// for example if the connection is lost meanwhile or PostgreSQL does not answer.
    ///
    /// - Parameter whenSlow: called once if the exchange takes longer than ``slowThreshold``.
    mutating func exchange(_ jobs: [[SQL]], whenSlow: @escaping () -> Void = {}) throws(DatabaseError) -> Outcome {
        slow = nil
        var awaited: [Awaited] = []
        for (job, statements) in jobs.enumerated() {
            for statement in statements { try send(statement, of: job, &awaited) }
        }
        guard PQpipelineSync(connection.raw) == 1 else { throw lost }
        slow = (.now + Self.slowThreshold, whenSlow)
        awaited.append(.sync)
        return try receive(awaited, jobs: jobs.count)
    }

    private mutating func send(_ statement: SQL, of job: Int, _ awaited: inout [Awaited]) throws(DatabaseError) {
        let signature = Signature(text: statement.text, types: statement.parameters.map(\.type))
        let name = prepared[signature] ?? pendingName(of: signature, in: awaited) ?? "s\(nameCount)"
        let isNew = name == "s\(nameCount)"
        if isNew { nameCount += 1 }
        let raw = connection.raw
        let isSent = statement.withParameters { count, types, values, lengths, formats in
            (!isNew || PQsendPrepare(raw, name, signature.text, count, types) == 1)
                && PQsendQueryPrepared(raw, name, count, values, lengths, formats, 1) == 1
        }
        guard isSent else { throw lost }
        if isNew { awaited.append(.preparation(signature, name: name, job: job)) }
        awaited.append(.rows(job: job))
    }

    /// The name of the prepared statement if an earlier statement of the same exchange prepares it; nil otherwise.
    private func pendingName(of signature: Signature, in awaited: [Awaited]) -> String? {
        for case .preparation(signature, let name, _) in awaited { return name }
        return nil
    }

    private mutating func receive(_ awaited: [Awaited], jobs: Int) throws(DatabaseError) -> Outcome {
        var rows = [[Rows]](repeating: [], count: jobs)
        var failure: (culprit: Int?, diagnosis: DatabaseError.Diagnosis)?
        var position = 0
        var isAnswered = false
        while position < awaited.count {
            guard let result = try nextResult() else {
                // libpq returns NULL after the results of each statement. A statement has at least one result. libpq
                // also returns NULL after an error of the commit, which comes before the result of the Sync.
                guard isAnswered else { throw .outcomeUnknown("libpq returned no result for a statement") }
                isAnswered = false
                if awaited[position].job != nil { position += 1 }
                continue
            }
            isAnswered = true
            switch (awaited[position], result.status) {
            case (.sync, PGRES_PIPELINE_SYNC):
                position += 1
            case (.preparation(let signature, let name, _), PGRES_COMMAND_OK):
                prepared[signature] = name
            case (.rows(let job), PGRES_COMMAND_OK), (.rows(let job), PGRES_TUPLES_OK):
                rows[job].append(result.rows)
            case (_, PGRES_PIPELINE_ABORTED):
                break
            case (let place, PGRES_FATAL_ERROR):
                guard PQstatus(connection.raw) == CONNECTION_OK else { throw lost }
                let diagnosis = result.diagnosis
                failure = failure ?? (place.job, diagnosis)
                if diagnosis.isStalePreparation { prepared = [:] }
            default:
                throw .outcomeUnknown("libpq returned the unexpected status \(result.status.rawValue)")
            }
        }
        return failure.map { .undone(culprit: $0.culprit, $0.diagnosis) } ?? .committed(rows)
    }

    /// Waits for the next result. Returns nil where libpq returns NULL.
    private mutating func nextResult() throws(DatabaseError) -> ResultHandle? {
        try flush()
        while PQisBusy(connection.raw) == 1 {
            try wait(for: POLLIN)
            guard PQconsumeInput(connection.raw) == 1 else { throw lost }
        }
        guard let raw = PQgetResult(connection.raw) else {
            guard PQstatus(connection.raw) == CONNECTION_OK else { throw lost }
            return nil
        }
        return ResultHandle(owning: raw)
    }

    /// Sends the buffered statements and reads results meanwhile. PostgreSQL does not read more statements while it
    /// waits for its results to be read.
    private mutating func flush() throws(DatabaseError) {
        while true {
            switch PQflush(connection.raw) {
            case 0: return
            case 1:
                try wait(for: POLLIN | POLLOUT)
                guard PQconsumeInput(connection.raw) == 1 else { throw lost }
            default: throw lost
            }
        }
    }

    /// Waits until the socket is ready, and reports an exchange that becomes slow meanwhile. PostgreSQL ends a
    /// statement at the statement timeout, so a connection counts as lost if it has no answer 5 s after that timeout.
    private mutating func wait(for events: Int32) throws(DatabaseError) {
        var source = pollfd(fd: socket, events: Int16(events), revents: 0)
        while true {
            var timeout = Int32(answerTimeout / .milliseconds(1))
            if let slow {
                let left = slow.at - .now
                if left > .zero {
                    timeout = Int32((left / .milliseconds(1)).rounded(.up))
                } else {
                    self.slow = nil
                    slow.report()
                }
            }
            let ready = poll(&source, 1, timeout)
            if ready > 0 { return }
            if ready < 0, errno != EINTR { throw lost }
            if ready == 0, slow == nil { throw .outcomeUnknown("no answer for \(answerTimeout.seconds) s") }
        }
    }

    private var lost: DatabaseError { .outcomeUnknown(connection.message) }
}

extension Pipeline.Awaited {
    fileprivate var job: Int? {
        switch self {
        case .preparation(_, _, let job), .rows(let job): job
        case .sync: nil
        }
    }
}

extension DatabaseError.Diagnosis {
    /// True if the session no longer has the prepared statement (26000), or DDL has changed the type of its result
    /// (0A000).
    fileprivate var isStalePreparation: Bool { sqlState == "26000" || sqlState == "0A000" }
}
