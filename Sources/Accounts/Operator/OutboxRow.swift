package import Foundation

/// A row of the outbox: a mail without its content.
package struct OutboxRow: Sendable {
    package let id: ID<Outbox>
    package let template: String
    package let state: State
    /// The address, masked unless it is revealed; nil if the mail is delivered or dead, or cannot be decrypted.
    package let recipient: String?
    /// The draft that has caused the mail; nil if the mail does not come from a draft.
    package let draft: ID<Draft>?
    /// The account that the mail is about. Nil for a mail that a draft has caused before its commit, and for a mail
    /// that is never sent (template `withheld`) because no account, or only a disabled one, has its address. The
    /// account may have been erased.
    package let account: ID<Account>?
    package let attempts: Int
    package let createdAt, dueAt: Date
    /// The time from which on the mail comes too late, for example because its code and its ticket have expired.
    package let uselessAfter: Date
    /// The time at which the mail was delivered or given up; nil if it waits.
    package let finishedAt: Date?
    package let lastError: String?
    /// The reply with which the mail server has accepted the mail, without addresses.
    package let reply: String?
    /// The time of the database.
    package let now: Date
    /// Whether the content, with the address, cannot be decrypted.
    package var isSealed = false

    package enum State: String, CaseIterable, Sendable {
        case waiting, delivered, dead
    }

    /// Whether the next attempt will try to deliver the mail. If the mail is useless by then, that attempt gives the
    /// mail up.
    package var canStillArrive: Bool { state == .waiting && max(dueAt, now) < uselessAfter }

    /// Why the mail was not delivered so far: the latest reply of the mail server, or another reason, such as a failed
    /// connection or a missing key. Nil if no reason is stored.
    package var failure: (text: String, isReply: Bool)? {
        lastError.map { error in
            let text = String(error.trimmingPrefix(#/not (delivered yet|deliverable): /#))
            return (text, text.prefixMatch(of: #/[45][0-9]{2} /#) != nil)
        }
    }
}

/// Selects mails. A property that is nil does not restrict the selection.
package struct OutboxFilter: Sendable {
    package var state: OutboxRow.State?
    /// Selects mails that this draft has caused.
    package var draft: ID<Draft>?
    /// Selects mails whose age is at most this.
    package var since: Duration?
    /// Selects waiting mails to this address, all mails about the account with this address, and all mails of
    /// unfinished drafts with this address.
    package var email: EmailAddress?

    package init(
        state: OutboxRow.State? = nil,
        draft: ID<Draft>? = nil,
        since: Duration? = nil,
        email: EmailAddress? = nil
    ) {
        (self.state, self.draft, self.since, self.email) = (state, draft, since, email)
    }
}

extension Operator {
    /// Returns one page of the mails that match the filter, newest first. A search for an address writes audit records.
    ///
    /// - Parameters:
    ///   - limit: the maximum number of mails on the page.
    ///   - cursor: the last mail of the previous page; nil for the first page.
    package func mails(
        _ filter: OutboxFilter,
        limit: Int,
        after cursor: ID<Outbox>? = nil
    ) async throws(DatabaseError) -> ListPage<OutboxRow> {
        let condition = condition(filter)
        let select = ListPage<OutboxRow>.select(
            Self.mailColumns,
            from: "outbox WHERE \(condition)",
            after: cursor.map { "id < \($0)" },
            by: "id DESC",
            limit: limit
        )
        let rows: Rows
        if filter.email == nil {
            rows = try await database.read(select)
        } else {
            let found: SQL = "found AS (SELECT id FROM outbox WHERE \(condition))"
            let audit: SQL = "WITH \(found), \(auditedSearch(.findMail, in: "found", of: "id")) SELECT 1"
            rows = try await database.transaction(audit, select)[1]
        }
        return try ListPage(rows, limit: limit, cursor: { "\($0.id)" }) { columns throws(DatabaseError) in
            try mail(&columns)
        }
    }

    /// Returns the number of mails whose ids begin with the digits, and the id of one of these mails. The id is nil if
    /// there is no such mail.
    package func idsBeginning(
        with prefix: IDPrefix<Outbox>
    ) async throws(DatabaseError) -> (count: Int, first: ID<Outbox>?) {
        try await ids(prefix, in: "outbox")
    }

    /// Returns the mail with that id; nil if there is none. If `reveals` is true, writes an audit record first, and
    /// does not mask the address.
    package func mail(_ id: ID<Outbox>, reveals: Bool = false) async throws(DatabaseError) -> OutboxRow? {
        if reveals { try await note(.revealMail, of: id) }
        return try await mails(where: "id = \(id)", reveals: reveals).first
    }

    /// Returns the mails that match the condition, oldest first.
    func mails(where condition: SQL, reveals: Bool = false) async throws(DatabaseError) -> [OutboxRow] {
        var mails: [OutboxRow] = []
        for row in try await database.read("SELECT \(Self.mailColumns) FROM outbox WHERE \(condition) ORDER BY id") {
            var columns = row.columns
            if let mail = try mail(&columns, reveals: reveals) { mails.append(mail) }
        }
        return mails
    }

    private func condition(_ filter: OutboxFilter) -> SQL {
        var all: SQL = "true"
        if let state = filter.state { all = "\(all) AND state = \(state.rawValue)" }
        if let draft = filter.draft { all = "\(all) AND draft = \(draft)" }
        if let age = filter.since { all = "\(all) AND created_at >= now() - make_interval(secs => \(age.seconds))" }
        if let email = filter.email {
            let digests = ByteStrings(signups.outbox.recipientDigests(of: email))
            all = """
                \(all) AND (state = 'waiting' AND recipient = ANY (\(digests))
                            OR account IN (SELECT id FROM accounts WHERE email = \(email.rawValue))
                            OR draft IN (SELECT id FROM drafts WHERE account_id IS NULL
                                            AND email_digest = ANY (\(ByteStrings(signups.addressDigests(email))))))
                """
        }
        return all
    }

    private static let mailColumns: SQL =
        "id, template, state, sealed, draft, account, attempts, created_at, due_at, useless_after, finished_at, last_error, reply, now() AS time"

    /// Decodes the columns of ``mailColumns``. Returns nil for the row that stands for an empty page.
    private func mail(_ columns: inout Columns, reveals: Bool = false) throws(DatabaseError) -> OutboxRow? {
        guard let id = try columns.next(ID<Outbox>?.self) else { return nil }
        let template: String = try columns.next()
        let state: String = try columns.next()
        let sealed: [UInt8]? = try columns.next()
        let content = sealed.flatMap { signups.outbox.open($0, of: id) }
        let address = content.flatMap { EmailAddress($0.to) }
        return OutboxRow(
            id: id,
            template: template,
            state: OutboxRow.State(rawValue: state) ?? .waiting,
            recipient: reveals ? address?.rawValue : address?.masked,
            draft: try columns.next(),
            account: try columns.next(),
            attempts: try columns.next(),
            createdAt: try columns.next(),
            dueAt: try columns.next(),
            uselessAfter: try columns.next(),
            finishedAt: try columns.next(),
            lastError: try columns.next(),
            reply: try columns.next(),
            now: try columns.next(),
            isSealed: sealed != nil && content == nil
        )
    }
}
