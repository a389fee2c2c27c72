internal import CPostgres
internal import Foundation

/// The sole owner of a `PGresult *`.
struct ResultHandle: ~Copyable {
    private let raw: OpaquePointer

    init(owning raw: OpaquePointer) {
        self.raw = raw
    }

    deinit {
        PQclear(raw)
    }

    var status: ExecStatusType { PQresultStatus(raw) }

    var diagnosis: DatabaseError.Diagnosis {
        func field(_ code: Int32) -> String? { PQresultErrorField(raw, code).map { String(cString: $0) } }
        return .init(
            sqlState: field(diagnosis_sqlstate) ?? "",
            constraint: field(diagnosis_constraint),
            message: field(diagnosis_message) ?? String(cString: PQresultErrorMessage(raw)),
            detail: field(diagnosis_detail),
            position: field(diagnosis_position).flatMap { Int($0) }
        )
    }

    /// A copy of all cells. They are in binary format, except in a result of `PQexec`.
    var rows: Rows {
        let (count, width) = (PQntuples(raw), PQnfields(raw))
        var bytes: [UInt8] = []
        var cells: [Range<Int>?] = []
        cells.reserveCapacity(Int(count * width))
        for row in 0..<count {
            for column in 0..<width {
                guard PQgetisnull(raw, row, column) == 0 else {
                    cells.append(nil)
                    continue
                }
                let start = bytes.count
                let length = Int(PQgetlength(raw, row, column))
                bytes.append(contentsOf: UnsafeRawBufferPointer(start: PQgetvalue(raw, row, column), count: length))
                cells.append(start..<start + length)
            }
        }
        return Rows(count: Int(count), width: Int(width), cells: cells, bytes: bytes)
    }
}

/// The sole owner of a `PGconn *`. Only one thread may use it at a time.
package struct Connection: ~Copyable {
    let raw: OpaquePointer

    /// Opens a session. Blocks while the names of the hosts are resolved, and then for at most five seconds for each
    /// address. Throws `unavailable` if no session opens.
    package init(to conninfo: String) throws(DatabaseError) {
        let parameters = [
            ("fallback_application_name", "accounts-api"), ("dbname", conninfo), ("connect_timeout", "5"),
            ("client_encoding", "UTF8"),
        ]
        let keywords = CStrings(parameters.map(\.0))
        let values = CStrings(parameters.map(\.1))
        let opened = withExtendedLifetime((keywords, values)) {
            PQconnectdbParams(keywords.pointers, values.pointers, 1)
        }
        guard let raw = opened else { throw .unavailable("out of memory") }
        guard PQstatus(raw) == CONNECTION_OK else {
            let reason = Self.message(of: raw)
            PQfinish(raw)
            // Other messages may quote parts of the connection string, such as a password that was not escaped.
            let isHarmless = reason.hasPrefix("connection to server")
            throw .unavailable(
                isHarmless
                    ? reason
                    : "the connection string, the environment or a service file is malformed, or a host is unknown"
            )
        }
        // Drops notices. The default receiver of libpq prints them to standard error.
        PQsetNoticeReceiver(raw, { _, _ in }, nil)
        self.raw = raw
    }

    deinit {
        PQfinish(raw)
    }

    /// The first line of the latest error message of libpq about this session. After the session was lost, this line
    /// contains hosts and reasons, but no values of statements. After a statement was refused, it may quote values.
    var message: String { Self.message(of: raw) }

    private static func message(of raw: OpaquePointer) -> String {
        String(cString: PQerrorMessage(raw)).split(separator: "\n").first.map(String.init) ?? "unknown reason"
    }

    /// False if PostgreSQL has reported that it is a standby, or that transactions are read-only by default. Versions
    /// before 14 do not report this.
    var acceptsWrites: Bool {
        let settings = ["in_hot_standby", "default_transaction_read_only"]
        return !settings.contains { (name: String) in
            PQparameterStatus(raw, name).map { String(cString: $0) == "on" } ?? false
        }
    }

    /// Runs a script of one or several statements without values. Blocks.
    package func run(_ script: String) throws(DatabaseError) {
        _ = try Self.rows(of: PQexec(raw, script), on: raw)
    }

    /// Commits a transaction. Blocks. Throws `unexpectedAnswer` if a statement of the transaction had failed.
    /// PostgreSQL then rolls the transaction back, and answers with the command tag ROLLBACK instead of an error.
    package func commit() throws(DatabaseError) {
        guard let result = PQexec(raw, "COMMIT") else { throw .outcomeUnknown(message) }
        let tag = String(cString: PQcmdStatus(result))
        _ = try Self.rows(of: result, on: raw)
        guard tag == "COMMIT" else { throw .unexpectedAnswer("the commit ended with \(tag)") }
    }

    /// Whether a transaction is open and has not failed.
    package var isInTransaction: Bool { PQtransactionStatus(raw) == PQTRANS_INTRANS }

    /// Runs one statement. Blocks.
    package func query(_ sql: SQL) throws(DatabaseError) -> Rows {
        let result = sql.withParameters { count, types, values, lengths, formats in
            PQexecParams(raw, sql.text, count, types, values, lengths, formats, 1)
        }
        return try Self.rows(of: result, on: raw)
    }

    private static func rows(of result: OpaquePointer?, on raw: OpaquePointer) throws(DatabaseError) -> Rows {
        guard let result else { throw .outcomeUnknown(message(of: raw)) }
        let handle = ResultHandle(owning: result)
        switch handle.status {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK: return handle.rows
        case _ where PQstatus(raw) == CONNECTION_BAD: throw .outcomeUnknown(message(of: raw))
        default: throw .refused(handle.diagnosis)
        }
    }
}

extension SQL {
    /// Calls the body with the number of values and the parallel arrays that libpq expects: types, values, lengths, and
    /// formats. Every value is in binary format.
    func withParameters<Result>(
        _ body: (
            Int32, UnsafePointer<Oid>?, UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?,
            UnsafePointer<Int32>?
        ) -> Result
    ) -> Result {
        let types = parameters.map(\.type.rawValue)
        let lengths = parameters.map { Int32($0.bytes?.count ?? 0) }
        let formats = parameters.map { _ in Int32(1) }
        // One block for all values. An extra byte after each value keeps an empty value from being a null pointer.
        var block: [UInt8] = []
        let starts = parameters.map { parameter -> Int? in
            guard let bytes = parameter.bytes else { return nil }
            defer {
                block += bytes
                block.append(0)
            }
            return block.count
        }
        return block.withUnsafeBytes { block in
            let values = starts.map { $0.map { (block.baseAddress! + $0).assumingMemoryBound(to: CChar.self) } }
            return body(Int32(parameters.count), types, values, lengths, formats)
        }
    }
}

/// An array of C strings that ends with a null pointer. The strings live as long as this object.
final class CStrings {
    let pointers: [UnsafePointer<CChar>?]

    init(_ strings: [String]) {
        pointers = strings.map { UnsafePointer(strdup($0)) } + [nil]
    }

    deinit {
        for pointer in pointers { free(UnsafeMutablePointer(mutating: pointer)) }
    }
}
