internal import CPostgres
internal import Foundation

/// A connection in pipeline mode: many statements out, one Sync, all answers in.
struct Pipeline: ~Copyable {
    private let connection: Connection
    /// What is prepared in this session, and under which name.
    private var prepared: [Signature: String] = [:]
    private var names = 0
    /// Whom to tell that the exchange takes long, and when; nil once that is done.
    private var slow: (at: ContinuousClock.Instant, tell: () -> Void)?

    /// So long an exchange may take before it is slow: more than a disk needs that keeps up.
    static let patience = Duration.milliseconds(1)

    enum Outcome {
        /// For each job the rows of each of its statements.
        case committed([[Rows]])
        /// Everything in the group is undone. `culprit` is the job that was refused; nil where the error came at the
        /// end, from a deferred constraint or the serialization check, and belongs to no statement.
        case undone(culprit: Int?, DatabaseError.Diagnosis)
    }

    /// One text is as many statements as there are types for its values.
    fileprivate struct Signature: Hashable {
        let text: String
        let types: [SQLType]
    }

    /// What we sent and now expect an answer to, in order.
    fileprivate enum Awaited {
        case preparation(Signature, name: String, job: Int)
        case rows(job: Int)
        case sync
    }

    init(_ connection: consuming Connection) throws(DatabaseError) {
        self.connection = connection
        guard self.connection.takesWrites else { throw .unavailable("the server is a standby, or takes no writes") }
        guard PQsetnonblocking(self.connection.raw, 1) == 0, PQenterPipelineMode(self.connection.raw) == 1 else {
            throw .unavailable(self.connection.message)
        }
        do throws(DatabaseError) {
            guard case .committed = try exchange([Self.settings]) else {
                throw .unavailable("the settings were refused")
            }
        } catch {
            throw .unavailable("\(error)")
        }
    }

    /// What every statement relies on: UTC, and an end to statements and locks that take too long.
    private static let settings: [SQL] = [
        "SET TimeZone = 'UTC'", "SET statement_timeout = '10s'", "SET lock_timeout = '5s'",
    ]

    /// Statements name days, so there are new ones each day that the session lives: a new session then begins with none.
    var isWornOut: Bool { names > 200 }

    var socket: Int32 { PQsocket(connection.raw) }

    /// Takes in what the server says unasked; throws when it has closed.
    func readWhileIdle() throws(DatabaseError) {
        guard PQconsumeInput(connection.raw) == 1, PQstatus(connection.raw) == CONNECTION_OK else { throw lost }
        // In pipeline mode and idle there is nothing to read but notices and the news of our end.
        while PQisBusy(connection.raw) == 0, let result = PQgetResult(connection.raw) { PQclear(result) }
        guard PQstatus(connection.raw) == CONNECTION_OK else { throw lost }
    }

    /// One transaction, one round trip. Throws only `outcomeUnknown`, when the connection was lost on the way.
    ///
    /// - Parameter whenSlow: is called once where the answer takes longer than ``patience``.
    mutating func exchange(_ jobs: [[SQL]], whenSlow: @escaping () -> Void = {}) throws(DatabaseError) -> Outcome {
        slow = nil
        var awaited: [Awaited] = []
        for (job, statements) in jobs.enumerated() {
            for statement in statements { try send(statement, of: job, &awaited) }
        }
        guard PQpipelineSync(connection.raw) == 1 else { throw lost }
        slow = (.now + Self.patience, whenSlow)
        awaited.append(.sync)
        return try receive(awaited, jobs: jobs.count)
    }

    private mutating func send(_ statement: SQL, of job: Int, _ awaited: inout [Awaited]) throws(DatabaseError) {
        let signature = Signature(text: statement.text, types: statement.parameters.map(\.type))
        let name = prepared[signature] ?? pendingName(of: signature, in: awaited) ?? "s\(names)"
        let isNew = name == "s\(names)"
        if isNew { names += 1 }
        let raw = connection.raw
        let isSent = statement.withParameters { count, types, values, lengths, formats in
            (!isNew || PQsendPrepare(raw, name, signature.text, count, types) == 1)
                && PQsendQueryPrepared(raw, name, count, values, lengths, formats, 1) == 1
        }
        guard isSent else { throw lost }
        if isNew { awaited.append(.preparation(signature, name: name, job: job)) }
        awaited.append(.rows(job: job))
    }

    /// A group may bring the same new statement many times.
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
                // NULL ends an answer, and never comes without one. An error that belongs to no statement comes, with
                // its NULL, before the Sync.
                guard isAnswered else { throw .outcomeUnknown("libpq ended an answer that had not begun") }
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
                throw .outcomeUnknown("libpq answered \(result.status.rawValue) out of turn")
            }
        }
        return failure.map { .undone(culprit: $0.culprit, $0.diagnosis) } ?? .committed(rows)
    }

    /// The next result, waiting for it; nil is libpq's NULL between statements.
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

    /// Sends what is buffered, reading meanwhile: a server that waits for us to read would never read from us.
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

    /// The server ends a statement after 10 s; one that says nothing for 15 s is as good as gone.
    private mutating func wait(for events: Int32) throws(DatabaseError) {
        var source = pollfd(fd: socket, events: Int16(events), revents: 0)
        while true {
            var most: Int32 = 15_000
            if let slow {
                let left = slow.at - .now
                if left > .zero {
                    most = Int32((left / .milliseconds(1)).rounded(.up))
                } else {
                    self.slow = nil
                    slow.tell()
                }
            }
            let ready = poll(&source, 1, most)
            if ready > 0 { return }
            if ready < 0, errno != EINTR { throw lost }
            if ready == 0, slow == nil { throw .outcomeUnknown("no answer for 15 s") }
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
    /// The session no longer has the statement (26000), or its result would have another type after DDL (0A000).
    fileprivate var isStalePreparation: Bool { sqlState == "26000" || sqlState == "0A000" }
}
