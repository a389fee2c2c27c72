internal import Foundation
package import Logging
internal import ServiceLifecycle

/// Delivers the mail in the outbox. Any number of servers may do so at the same time.
///
/// A sender claims a row by moving its due time to the next attempt, in one statement that skips locked rows. A sender
/// that dies therefore delays a mail, but never loses one. A mail arrives twice if a sender dies after the mail server
/// accepted the mail and before the row is updated; both have the same Message-ID.
///
/// A sender leaves mail whose key is not in its ring to the servers that have the key.
package struct OutboxSender: Sendable {
    private let outbox: Outbox
    private let database: Database
    private let mailer: any Mailer
    private let sender: String
    private let serviceName: String
    private let publicURL: String
    private let metrics: Metrics
    private let logger: Logger

    package init(
        outbox: Outbox,
        database: Database,
        mailer: any Mailer,
        from sender: String,
        serviceName: String,
        publicURL: String,
        metrics: Metrics = Metrics(),
        logger: Logger
    ) {
        self.outbox = outbox
        self.database = database
        self.mailer = mailer
        self.sender = sender
        self.serviceName = serviceName
        self.publicURL = publicURL
        self.metrics = metrics
        self.logger = logger
    }

    /// The number of attempts after which a mail is dead. With the waits between them, they take about sixteen hours.
    package static let maximumAttempts = 12

    /// Delivers the mail that has been due longest. Returns false if no mail is due.
    package func deliverNext() async throws(DatabaseError) -> Bool {
        let rows = try await database.transaction(
            """
            UPDATE outbox
               SET attempts = attempts + 1,
                   due_at = now() + least(make_interval(secs => 60 * 2 ^ attempts), interval '4 hours')
             WHERE id = (SELECT id FROM outbox
                          WHERE state = 'waiting' AND due_at <= now() AND (\(outbox.hasKey) OR useless_after <= now())
                          ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED)
            RETURNING id, template, sealed, attempts, now() < useless_after, created_at
            """
        )[0]
        guard let row = rows.first else { return false }
        let (id, template, sealed, attempts, isUseful, createdAt) = try row.decode(
            ID<Outbox>.self,
            String.self,
            [UInt8].self,
            Int.self,
            Bool.self,
            Date.self
        )
        if !isUseful {
            try await markDead(id, "expired before delivery")
        } else if template == "withheld" {
            // The owner of the account has already received a notice today. The row exists only so that every request
            // takes the same time.
            try await finish(id)
        } else if let content = outbox.open(sealed, of: id), let text = text(template, content) {
            try await deliver(text, to: content.to, id, attempts, createdAt)
        } else {
            // A server of the newer version may claim it next.
            try await postpone(id, "cannot read: written by another version", attempts)
        }
        return true
    }

    /// Notes why mail that has been due for a minute waits, if its key is not in the ring. A server that has the key
    /// delivers it nevertheless.
    package func noteMissingKeys() async throws(DatabaseError) {
        let rows = try await database.transaction(
            """
            UPDATE outbox SET last_error = reason
              FROM (SELECT id AS mail, 'cannot decrypt: ACCOUNTS_KEYS lacks the key "'
                           || CASE WHEN length(sealed) > 2 THEN encode(substr(sealed, 3, get_byte(sealed, 1)), 'escape')
                                   ELSE '' END || '"' AS reason
                      FROM outbox
                     WHERE state = 'waiting' AND due_at < now() - interval '1 minute' AND NOT \(outbox.hasKey)
                       FOR UPDATE SKIP LOCKED) AS overdue
             WHERE id = mail AND last_error IS DISTINCT FROM reason
            RETURNING id, reason
            """
        )[0]
        for row in rows {
            let (id, reason) = try row.decode(ID<Outbox>.self, String.self)
            logger.warning("mail not delivered", metadata: ["mail": "\(id)", "reason": "\(reason)"])
        }
    }

    private func deliver(
        _ text: MailText,
        to address: String,
        _ id: ID<Outbox>,
        _ attempts: Int,
        _ date: Date
    ) async throws(DatabaseError) {
        do throws(MailError) {
            try await mailer.send(
                Mail(
                    from: sender,
                    fromName: serviceName,
                    to: address,
                    subject: text.subject,
                    text: text.text,
                    id: id.description,
                    date: date
                )
            )
        } catch {
            if case .permanent = error { return try await markDead(id, "\(error)") }
            return try await postpone(id, "\(error)", attempts)
        }
        metrics.mails.add(1, "delivered")
        try await finish(id)
    }

    private func finish(_ id: ID<Outbox>) async throws(DatabaseError) {
        let update: SQL = """
            UPDATE outbox SET state = 'delivered', sealed = NULL, last_error = NULL, finished_at = now()
             WHERE id = \(id) AND state = 'waiting'
            """
        do throws(DatabaseError) {
            _ = try await database.transaction(update)
        } catch {
            // Idempotent, so retry: without this update the mail would be sent again.
            guard case .outcomeUnknown = error else { throw error }
            _ = try await database.transaction(update)
        }
    }

    /// Leaves the mail to its next attempt, or marks it dead after the last one. The claim has already moved the due
    /// time.
    private func postpone(_ id: ID<Outbox>, _ reason: String, _ attempts: Int) async throws(DatabaseError) {
        if attempts >= Self.maximumAttempts { return try await markDead(id, reason) }
        metrics.mails.add(1, "postponed")
        logger.warning("mail not delivered", metadata: ["mail": "\(id)", "reason": "\(reason)"])
        _ = try await database.transaction("UPDATE outbox SET last_error = \(reason) WHERE id = \(id)")
    }

    private func markDead(_ id: ID<Outbox>, _ reason: String) async throws(DatabaseError) {
        metrics.mails.add(1, "dead")
        logger.error("mail is dead", metadata: ["mail": "\(id)", "reason": "\(reason)"])
        _ = try await database.transaction(
            """
            UPDATE outbox SET state = 'dead', sealed = NULL, last_error = \(reason), finished_at = now()
             WHERE id = \(id) AND state = 'waiting'
            """
        )
    }

    private func text(_ template: String, _ content: Outbox.Content) -> MailText? {
        let messages = content.language.messages
        return switch template {
        case "verification-code":
            content.code.map {
                messages.verificationCode($0.text, minutes: $0.minutes, serviceName: serviceName)
            }
        case "handoff":
            content.code.map {
                let link = "\(publicURL)/signup/resume?code=\($0.text)"
                return messages.handoff(link, minutes: $0.minutes, serviceName: serviceName)
            }
        case "already-registered": messages.alreadyRegistered(serviceName: serviceName)
        case "account-created": messages.accountCreated(serviceName: serviceName, address: content.to)
        default: nil
        }
    }
}

extension OutboxSender: Service {
    /// Delivers at each wakeup, and every five seconds, for mail of other servers and for retries. Notes missing keys
    /// every minute.
    package func run() async throws {
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for await _ in outbox.wakeups.cancelOnGracefulShutdown() { await attempt(deliverAll) }
            }
            group.addTask {
                for await _ in Ticks(every: .seconds(60)).cancelOnGracefulShutdown() { await attempt(noteMissingKeys) }
            }
            group.addTask {
                for await _ in Ticks(every: .seconds(5)).cancelOnGracefulShutdown() { outbox.wakeSender() }
            }
        }
    }

    private func deliverAll() async throws(DatabaseError) {
        while try await deliverNext(), !Task.isShuttingDownGracefully {}
    }

    private func attempt(_ work: () async throws(DatabaseError) -> Void) async {
        do throws(DatabaseError) {
            try await work()
        } catch {
            metrics.failures.add(1, "outbox")
            logger.warning("cannot process the outbox, will retry", metadata: ["reason": "\(error)"])
        }
    }
}
