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
            message: field(diagnosis_message) ?? String(cString: PQresultErrorMessage(raw))
        )
    }

    /// A copy of all cells. Both formats arrive as bytes; we always ask for binary.
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

/// The sole owner of a `PGconn *`. Not for two threads at once.
package struct Connection: ~Copyable {
    let raw: OpaquePointer

    /// Opens a session, which blocks for at most five seconds an address.
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
            // Other messages quote the connection string, and with it a password that somebody forgot to escape.
            let isHarmless = reason.hasPrefix("connection to server")
            throw .unavailable(isHarmless ? reason : "the connection string is malformed, or its host unknown")
        }
        // libpq prints notices on standard error unless somebody takes them.
        PQsetNoticeReceiver(raw, { _, _ in }, nil)
        self.raw = raw
    }

    deinit {
        PQfinish(raw)
    }

    /// The last message of libpq about this session. It names hosts and reasons, never parameters.
    var message: String { Self.message(of: raw) }

    private static func message(of raw: OpaquePointer) -> String {
        String(cString: PQerrorMessage(raw)).split(separator: "\n").first.map(String.init) ?? "no reason given"
    }

    /// False where the server has said that it only reads; PostgreSQL says so from version 14 on.
    var takesWrites: Bool {
        let settings = ["in_hot_standby", "default_transaction_read_only"]
        return !settings.contains { (name: String) in
            PQparameterStatus(raw, name).map { String(cString: $0) == "on" } ?? false
        }
    }

    /// Runs a script of several statements without values, blocking.
    package func run(_ script: String) throws(DatabaseError) {
        _ = try Self.rows(of: PQexec(raw, script), on: raw)
    }

    /// Ends a transaction, blocking. A commit of a failed one succeeds with the tag ROLLBACK, which is
    /// `unexpectedAnswer` here.
    package func commit() throws(DatabaseError) {
        guard let result = PQexec(raw, "COMMIT") else { throw .outcomeUnknown(message) }
        let tag = String(cString: PQcmdStatus(result))
        _ = try Self.rows(of: result, on: raw)
        guard tag == "COMMIT" else { throw .unexpectedAnswer("a commit that was a \(tag.lowercased())") }
    }

    /// Whether a transaction is open and has not failed.
    package var isInTransaction: Bool { PQtransactionStatus(raw) == PQTRANS_INTRANS }

    /// Runs one statement, blocking.
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
    /// Lends the values as libpq's parallel arrays: count, types, values, lengths, formats (all binary).
    func withParameters<Result>(
        _ body: (
            Int32, UnsafePointer<Oid>?, UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?,
            UnsafePointer<Int32>?
        ) -> Result
    ) -> Result {
        let types = parameters.map(\.type.rawValue)
        let lengths = parameters.map { Int32($0.bytes?.count ?? 0) }
        let formats = parameters.map { _ in Int32(1) }
        // One block for all values, each ending in a byte of its own, so that an empty value is no null pointer.
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

/// C strings with a null at the end, alive as long as this object.
private final class CStrings {
    let pointers: [UnsafePointer<CChar>?]

    init(_ strings: [String]) {
        pointers = strings.map { UnsafePointer(strdup($0)) } + [nil]
    }

    deinit {
        for pointer in pointers { free(UnsafeMutablePointer(mutating: pointer)) }
    }
}
