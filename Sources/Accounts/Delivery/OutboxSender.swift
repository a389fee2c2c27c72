internal import Foundation
package import Logging
internal import ServiceLifecycle

/// Delivers what waits in the outbox. Any number of servers may do so side by side.
///
/// A row is claimed by moving its due time to the next attempt, in one statement that skips what others claim: a sender
/// that dies costs a delay and never a mail. A mail may arrive twice where a sender dies between the server's yes and
/// the note of it; both have the same Message-ID.
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

    /// Attempts before a mail is dead: with the waits between them, some sixteen hours.
    package static let maximumAttempts = 12

    /// Delivers what has been due longest; false where nothing is.
    package func deliverNext() async throws(DatabaseError) -> Bool {
        let rows = try await database.transaction(
            """
            UPDATE outbox
               SET attempts = attempts + 1,
                   due_at = now() + least(make_interval(secs => 60 * 2 ^ attempts), interval '4 hours')
             WHERE id = (SELECT id FROM outbox WHERE state = 'waiting' AND due_at <= now()
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
            try await markDead(id, "nobody has a use for it any more")
        } else if template == "withheld" {
            // To the owner of an account, who was told today: made for the sake of its time only.
            try await finish(id)
        } else if let content = outbox.open(sealed, of: id), let text = text(template, content) {
            try await deliver(text, to: content.to, id, attempts, createdAt)
        } else {
            // A server that has the newer keys, or is of the newer version, may claim it next.
            try await postpone(id, "sealed with another key, or by another version", attempts)
        }
        return true
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
        let note: SQL = """
            UPDATE outbox SET state = 'delivered', sealed = NULL, last_error = NULL, finished_at = now()
             WHERE id = \(id) AND state = 'waiting'
            """
        do throws(DatabaseError) {
            _ = try await database.transaction(note)
        } catch {
            // Noted twice is noted once; not noted is a mail sent again.
            guard case .outcomeUnknown = error else { throw error }
            _ = try await database.transaction(note)
        }
    }

    /// Leaves the mail to its next attempt, to which the claim has moved it, unless it has had the last.
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
    /// Delivers at each wake-up, and every few seconds what others left or what failed before.
    package func run() async throws {
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for await _ in outbox.wakeups.cancelOnGracefulShutdown() { await deliverAll() }
            }
            group.addTask {
                for await _ in Ticks(every: .seconds(5)).cancelOnGracefulShutdown() { outbox.wakeSender() }
            }
        }
    }

    private func deliverAll() async {
        do throws(DatabaseError) {
            while try await deliverNext(), !Task.isShuttingDownGracefully {}
        } catch {
            metrics.failures.add(1, "outbox")
            logger.warning("the outbox waits", metadata: ["reason": "\(error)"])
        }
    }
}
