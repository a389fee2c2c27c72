internal import Foundation
package import Logging
internal import ServiceLifecycle
internal import Synchronization

/// Delivers the mail in the outbox, several mails at the same time. Any number of servers may do so at once.
///
/// A claim sets the due time of a mail to that of its next attempt, in one statement that skips locked rows. A server
/// that dies therefore delays a mail, but never loses one. A mail may arrive twice, for example if a server dies after
/// the mail server accepted the mail and before the row is updated; both copies have the same Message-ID.
///
/// If the key ring of a server lacks the key of a mail, the server leaves the mail to a server that has the key. Any
/// server claims a mail that comes too late, and marks it dead.
package struct OutboxSender: Sendable {
    private let outbox: Outbox
    private let database: Database
    private let mailers: [any Mailer]
    private let pace: MailPace
    private let sender: String
    private let serviceName: String
    private let publicURL: String
    private let recoversSignIn: Bool
    private let contact: String?
    private let metrics: Metrics
    private let logger: Logger

    /// - Parameters:
    ///   - mailers: at least one; each delivers one mail at a time.
    ///   - recoversSignIn: that of the flow. It decides between the texts of mails, and where their links lead.
    ///   - contact: the URL at which people get help, which some mails show; nil if there is none.
    ///   - clock: measures the deliveries, and waits instead of sending a withheld mail (``MailPace``).
    package init(
        outbox: Outbox,
        database: Database,
        mailers: [any Mailer],
        from sender: String,
        serviceName: String,
        publicURL: String,
        recoversSignIn: Bool,
        contact: String? = nil,
        clock: any Clock<Duration> = ContinuousClock(),
        metrics: Metrics = Metrics(),
        logger: Logger
    ) {
        precondition(!mailers.isEmpty, "a sender needs a mailer")
        self.outbox = outbox
        self.database = database
        self.mailers = mailers
        pace = MailPace(on: clock)
        self.sender = sender
        self.serviceName = serviceName
        self.publicURL = publicURL
        self.recoversSignIn = recoversSignIn
        self.contact = contact
        self.metrics = metrics
        self.logger = logger
    }

    /// The number of attempts after which the sender gives up, and the mail is dead. The SQL function `claim_mail`
    /// chooses the waits between them. All attempts together take about forty hours. For a mail that is useless after a
    /// day, such as one with a code, they take at most about a day.
    package static let maximumAttempts = 18

    /// Claims the next due mail, and makes one attempt to deliver it. Returns false if there is no due mail that this
    /// server can claim. ``run()`` delivers several mails at a time.
    package func deliverNext() async throws(DatabaseError) -> Bool {
        guard let mail = try await outbox.claim(1, on: database).first else { return false }
        try await deliver(mail, with: mailers[0])
        return true
    }

    /// Stores and logs that a key is missing, for each mail that has been due for a minute and whose key is not in the
    /// key ring of this server. Skips a mail for which the same message is stored already. A server that has the key
    /// delivers the mail nevertheless.
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
            logger.warning("mail not delivered, key is missing", metadata: ["mail": "\(id)", "reason": "\(reason)"])
        }
    }

    /// Erases the digests of network and recipient of mail that is delivered or dead. This version does that when it
    /// marks the mail delivered or dead, but a server of the previous version keeps the digests.
    package func eraseDigests() async throws(DatabaseError) {
        _ = try await database.transaction(Self.eraseLeftDigests)
    }

    /// The index `outbox_left_digests` serves only this statement.
    static let eraseLeftDigests: SQL = """
        UPDATE outbox SET network = NULL, recipient = NULL, sending_until = NULL
         WHERE state <> 'waiting' AND recipient IS NOT NULL
        """

    private func deliver(_ mail: ClaimedMail, with mailer: any Mailer) async throws(DatabaseError) {
        if !mail.isUseful {
            try await markDead(mail, Self.lateness(after: mail.lastError))
        } else if mail.template == "withheld" {
            // This mail is never sent: either no account has the address, or only a disabled one, or the owner of the
            // address already got a notice within the past hour. The row exists only so that every request takes the
            // same time. It keeps the mailer busy for as long as a mail that is sent.
            try await attempt(mail) { () throws(MailError) in
                try await connect(mailer)
                await pace.imitate()
                return nil
            }
        } else if let content = outbox.open(mail.sealed, of: mail.id), let text = text(mail, content) {
            try await attempt(mail) { () throws(MailError) in
                let message = try Mail(
                    from: sender,
                    fromName: serviceName,
                    to: content.to,
                    subject: text.subject,
                    text: text.text,
                    id: mail.id.description,
                    date: mail.createdAt
                )
                try await connect(mailer)
                let reply = try await pace.measure { () throws(MailError) in try await mailer.send(message) }
                metrics.mails.add(1, mailer.outcome)
                return reply
            }
        } else {
            // A server of the version that wrote the mail may make the next attempt.
            try await postpone(
                mail,
                "cannot read the mail: another version of the service wrote it, or its row was changed"
            )
        }
    }

    /// Connects the mailer. Throws `temporary` if this server is stopping, because another server can send the mail.
    private func connect(_ mailer: any Mailer) async throws(MailError) {
        try await mailer.connect()
        if Task.isCancelled { throw .temporary(reply: nil, reason: "this server is stopping") }
    }

    /// Runs the delivery and stores its outcome. After a permanent error, or any error in the last attempt, the mail is
    /// dead. After any other error it is postponed.
    ///
    /// - Parameter delivery: returns the reply with which the mail server accepted the mail, if there is one.
    private func attempt(
        _ mail: ClaimedMail,
        _ delivery: () async throws(MailError) -> String?
    ) async throws(DatabaseError) {
        let reply: String?
        do throws(MailError) {
            reply = try await delivery()
        } catch {
            if case .permanent = error { return try await markDead(mail, "\(error)") }
            return try await postpone(mail, "\(error)")
        }
        try await finish(mail.id, reply)
    }

    private func finish(_ id: ID<Outbox>, _ reply: String?) async throws(DatabaseError) {
        let update: SQL = """
            UPDATE outbox SET state = 'delivered', \(Self.erased), last_error = NULL, reply = \(reply), finished_at = now()
             WHERE id = \(id) AND state = 'waiting'
            """
        do throws(DatabaseError) {
            _ = try await database.transaction(update)
        } catch {
            // Retries the update, which is idempotent: without it the mail would be sent again.
            guard case .outcomeUnknown = error else { throw error }
            _ = try await database.transaction(update)
        }
    }

    /// Leaves the mail to its next attempt, or marks it dead if this was attempt ``maximumAttempts``.
    private func postpone(_ mail: ClaimedMail, _ reason: String) async throws(DatabaseError) {
        if mail.attempts >= Self.maximumAttempts { return try await markDead(mail, reason) }
        try await keepWaiting(mail, reason)
    }

    /// Stores the error, and leaves the mail to its next attempt, whose due time the claim has already set.
    private func keepWaiting(_ mail: ClaimedMail, _ reason: String) async throws(DatabaseError) {
        let waiting = try await database.transaction(
            """
            UPDATE outbox SET last_error = \(reason), sending_until = NULL WHERE \(mail.isCurrent) RETURNING id
            """
        )[0]
        // Another server may have finished the mail since, or it delivers the mail now, because this attempt took
        // longer than its claim.
        if waiting.isEmpty { return }
        metrics.mails.add(1, "postponed")
        logger.warning("mail not delivered, will retry", metadata: ["mail": "\(mail.id)", "reason": "\(reason)"])
    }

    /// The error of a mail that comes too late. It ends with the earlier error, if any, which says why the mail is
    /// late.
    static func lateness(after earlier: String?) -> String {
        ["expired before delivery", earlier].compactMap(\.self).joined(separator: "; ")
    }

    /// Marks the mail dead, if this claim is still the current one. Otherwise leaves the mail to its next attempt: if
    /// an operator has retried the mail since, its attempts are 0, and the next attempt follows at once.
    private func markDead(_ mail: ClaimedMail, _ reason: String) async throws(DatabaseError) {
        let dead = try await database.transaction(
            """
            UPDATE outbox SET state = 'dead', \(Self.erased), last_error = \(reason), finished_at = now()
             WHERE \(mail.isCurrent) AND attempts = \(mail.attempts) RETURNING id
            """
        )[0]
        if dead.isEmpty { return try await keepWaiting(mail, reason) }
        metrics.mails.add(1, "dead")
        logger.error("mail is dead", metadata: ["mail": "\(mail.id)", "reason": "\(reason)"])
    }

    /// The assignments that erase the content, the recipient and the network of a mail that is delivered or dead.
    private static let erased: SQL = "sealed = NULL, network = NULL, recipient = NULL, sending_until = NULL"

    /// The URL at which the owner of the address gets into the account: the recovery or, if that is of no help, the page
    /// of the account.
    private var accountLink: String { publicURL + (recoversSignIn ? FlowPurpose.recovery.path : "/account") }

    private func text(_ mail: ClaimedMail, _ content: Outbox.Content) -> MailText? {
        let messages = content.language.messages
        if let code = CodeMail(rawValue: mail.template) { return text(code, content, after: mail.age) }
        return switch mail.template {
        case "handoff":
            content.code.map {
                // Browsers do not send the fragment of a URL, so no proxy logs the code.
                let link = "\(publicURL)/signup/resume#code=\($0.text)"
                return messages.handoff(link, code: $0.text, minutes: $0.minutes, serviceName: serviceName)
            }
        case AddressChange.template:
            content.code.map {
                messages.addressLeft(
                    serviceName: serviceName,
                    days: $0.minutes / 1440,
                    link: "\(publicURL)\(FlowPurpose.emailChange.path)/undo#token=\($0.text)",
                    code: $0.text,
                    hasPassword: recoversSignIn
                )
            }
        case FlowPurpose.signup.templateWithoutCode:
            messages.alreadyRegistered(serviceName: serviceName, link: "\(publicURL)/sign-in")
        case FlowPurpose.emailChange.templateWithoutCode:
            messages.addressInUse(serviceName: serviceName, link: "\(publicURL)/sign-in")
        case "account-created":
            messages.accountCreated(
                serviceName: serviceName,
                address: content.to,
                link: accountLink,
                contact: contact
            )
        default:
            AccountNotice(rawValue: mail.template).map {
                messages.accountChanged(
                    $0,
                    serviceName: serviceName,
                    link: accountLink,
                    hasPassword: recoversSignIn,
                    contact: contact
                )
            }
        }
    }
}

extension OutboxSender {
    /// The text of a mail with a code; nil if the content has no code. If the code has expired and the mail has a
    /// ticket, the text has no code, but a link through which the person gets another code.
    ///
    /// - Parameter age: the seconds since the code was made.
    private func text(_ mail: CodeMail, _ content: Outbox.Content, after age: Int) -> MailText? {
        guard let code = content.code else { return nil }
        let messages = content.language.messages
        // A mail for a change of the address has no ticket. A mail that an earlier version of the service wrote may
        // have none, either.
        let link = content.ticket.flatMap { ticket in mail.ticketPath.map { "\(publicURL)\($0)?ticket=\(ticket)" } }
        if let link, age >= code.minutes * 60 { return messages.late(mail, link: link, serviceName: serviceName) }
        return messages.text(of: mail, code.text, minutes: code.minutes, link: link, serviceName: serviceName)
    }
}

extension OutboxSender: Service {
    /// Claims mail after each wakeup, at most one for each free mailer. New mail, the end of a delivery while mail is
    /// due, and a timer of five seconds wake the sender; the timer is for mail that other servers wrote, and for
    /// retries. Notes missing keys and erases digests every minute. At shutdown, returns when the current deliveries
    /// have ended.
    package func run() async {
        let free = FreeMailers(mailers)
        await withDiscardingTaskGroup { group in
            group.addTask {
                for await _ in Ticks(every: .seconds(60)).cancelOnGracefulShutdown() {
                    await loggingFailure(noteMissingKeys)
                    await loggingFailure(eraseDigests)
                }
            }
            group.addTask {
                for await _ in Ticks(every: .seconds(5)).cancelOnGracefulShutdown() { outbox.wakeSender() }
            }
            for await _ in outbox.wakeups.cancelOnGracefulShutdown() {
                if Task.isShuttingDownGracefully { break }
                for mail in await claimForAll(of: free) {
                    let mailer = free.take()
                    group.addTask {
                        await loggingFailure { () throws(DatabaseError) in try await deliver(mail, with: mailer) }
                        free.give(back: mailer)
                        await loggingFailure { () throws(DatabaseError) in
                            if try await outbox.hasDueMail(on: database) { outbox.wakeSender() }
                        }
                    }
                }
            }
        }
    }

    /// Claims at most one mail for each free mailer.
    private func claimForAll(of free: FreeMailers) async -> [ClaimedMail] {
        let count = free.count
        if count == 0 { return [] }
        return await loggingFailure { () throws(DatabaseError) in try await outbox.claim(count, on: database) } ?? []
    }

    /// Runs the work. If it fails, logs and counts the failure, and returns nil; ``run()`` tries again later.
    @discardableResult
    private func loggingFailure<Value>(_ work: () async throws(DatabaseError) -> Value) async -> Value? {
        do throws(DatabaseError) {
            return try await work()
        } catch {
            metrics.failures.add(1, "outbox")
            logger.warning("cannot process the outbox, will retry", metadata: ["reason": "\(error)"])
            return nil
        }
    }
}

/// The mailers that deliver nothing at the moment.
private final class FreeMailers: Sendable {
    private let mailers: Mutex<[any Mailer]>

    init(_ mailers: [any Mailer]) {
        self.mailers = Mutex(mailers)
    }

    var count: Int { mailers.withLock { $0.count } }

    /// Removes and returns the mailer that was given back last, because its connection is most likely still open. At
    /// least one mailer must be free.
    func take() -> any Mailer { mailers.withLock { $0.removeLast() } }

    func give(back mailer: any Mailer) { mailers.withLock { $0.append(mailer) } }
}
