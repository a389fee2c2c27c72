package import Foundation

/// Selects audit records. A property that is nil does not restrict the selection.
package struct AuditFilter: Sendable {
    /// The name of the operator.
    package var name: String?
    package var act: Operator.Act?
    /// The id of the draft, account, mail or event, or its first digits.
    package var subject: IDPrefix<AuditRecord>?
    /// The maximum age of a record.
    package var since: Duration?
    /// The reason that the operator gave. It must be equal to this text.
    package var reason: String?

    package init(
        name: String? = nil,
        act: Operator.Act? = nil,
        subject: IDPrefix<AuditRecord>? = nil,
        since: Duration? = nil,
        reason: String? = nil
    ) {
        (self.name, self.act, self.subject, self.since, self.reason) = (name, act, subject, since, reason)
    }

    fileprivate var condition: SQL {
        var all: SQL = "true"
        if let name { all = "\(all) AND operator = \(name)" }
        if let act { all = "\(all) AND act = \(act.rawValue)" }
        if let subject { all = "\(all) AND subject BETWEEN \(subject.first) AND \(subject.last)" }
        if let reason { all = "\(all) AND reason = \(reason)" }
        if let since { all = "\(all) AND at >= now() - make_interval(secs => \(since.seconds))" }
        return all
    }
}

/// The record of an act of an operator.
package struct AuditRecord: Sendable {
    package let number: Int
    package let at: Date
    /// The name that the operator gave, or else the login name of the operator.
    package let name: String
    /// The database role; nil in records that were written before the role was recorded.
    package let role: String?
    /// The name of the machine on which the command ran, as the command reported it. Nil if the machine has no name,
    /// and in records that were written before the machine was recorded.
    package let host: String?
    package let act: String
    /// The id of the draft, account, mail or event; nil if the act is about none of them, like a search that found
    /// nothing, or about many.
    package let subject: UUID?
    /// The reason that the operator gave, such as the number of a support ticket; nil if the operator gave none.
    package let reason: String?
}

extension Operator {
    /// Returns one page of the audit records that match the filter, newest first.
    ///
    /// - Parameters:
    ///   - limit: the maximum number of records on the page.
    ///   - cursor: the number of the last record on the previous page; nil for the first page.
    package func audit(
        _ filter: AuditFilter,
        limit: Int,
        after cursor: Int? = nil
    ) async throws(DatabaseError) -> ListPage<AuditRecord> {
        let rows = try await database.read(
            ListPage<AuditRecord>.select(
                "number, at, operator, role, host, act, subject, reason",
                from: "audit WHERE \(filter.condition)",
                after: cursor.map { "number < \($0)" },
                by: "number DESC",
                limit: limit
            )
        )
        return try ListPage(rows, limit: limit, cursor: { "\($0.number)" }) { columns throws(DatabaseError) in
            try AuditRecord(&columns)
        }
    }
}

extension AuditRecord {
    /// Returns nil for the row that stands for an empty page.
    fileprivate init?(_ columns: inout Columns) throws(DatabaseError) {
        guard let number = try columns.next(Int?.self) else { return nil }
        self.number = number
        at = try columns.next()
        name = try columns.next()
        role = try columns.next()
        host = try columns.next()
        act = try columns.next()
        subject = try columns.next()
        reason = try columns.next()
    }
}
