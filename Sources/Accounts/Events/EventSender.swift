internal import Foundation
package import Logging
internal import ServiceLifecycle

/// Sends events to the webhooks of applications. Sends logouts, which say that the access of an application to a
/// session has ended, to the logout URIs of applications. Any number of servers may do so at once.
///
/// An application gets the events of one account one after another, and those of several accounts at the same time.
/// Each server divides its concurrent requests evenly among the endpoints for which something is due, at most eight for
/// each. So one slow endpoint does not delay the others.
package struct EventSender: Sendable {
    private let subscribers: @Sendable () -> [EventSubscriber]
    private let queue: EventQueue
    private let transport: any EventTransport
    private let issuer: String
    private let signLogout: SignLogout
    private let metrics: Metrics
    private let logger: Logger
    private let wakeups: AsyncStream<Void>
    private let wakeup: AsyncStream<Void>.Continuation

    /// Signs the claims of a logout token for the application with that id. The type in the header is `logout+jwt`.
    package typealias SignLogout = @Sendable (_ claims: [JSON.Member], _ application: String) async throws -> String

    /// - Parameters:
    ///   - subscribers: returns the current applications of this server. The caller also stores them with
    ///     ``Database/store(_:)``.
    ///   - issuer: `iss` of logout tokens.
    package init(
        subscribers: @escaping @Sendable () -> [EventSubscriber],
        database: Database,
        transport: any EventTransport,
        issuer: String,
        signLogout: @escaping SignLogout,
        metrics: Metrics = Metrics(),
        logger: Logger
    ) {
        self.subscribers = subscribers
        queue = EventQueue(database: database)
        self.transport = transport
        self.issuer = issuer
        self.signLogout = signLogout
        self.metrics = metrics
        self.logger = logger
        (wakeups, wakeup) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Claims due events and logouts once, makes one attempt for each, one after another, and returns the number of
    /// attempts. ``run()`` makes several attempts at the same time.
    package func deliverDue() async throws(DatabaseError) -> Int {
        let attempts = try await claim(for: RequestsInFlight())
        for attempt in attempts { try await perform(attempt) }
        return attempts.count
    }

    /// An event or a logout that this server has claimed for one attempt.
    private enum Attempt: Sendable {
        case delivery(EventQueue.Delivery, about: Account?, EventSubscriber)
        case logout(EventQueue.Logout, EventSubscriber)

        var endpoint: RequestsInFlight.Endpoint {
            switch self {
            case .delivery(_, _, let subscriber): .webhook(subscriber.id)
            case .logout(_, let subscriber): .logout(subscriber.id)
            }
        }
    }

    /// Claims due events and logouts: for each endpoint, at most as many as it has free slots
    /// (``RequestsInFlight/freeSlots(for:capacity:)``). An endpoint for which nothing is due gets no slots.
    private func claim(for inFlight: RequestsInFlight) async throws(DatabaseError) -> [Attempt] {
        let subscribers = Dictionary(subscribers().map { ($0.id, $0) }) { first, _ in first }
        let due = try await queue.dueApplications()
        let webhookApplications = due.events.filter { subscribers[$0]?.webhook != nil }
        let logoutApplications = due.logouts.filter { subscribers[$0]?.backchannelLogoutURI != nil }
        let endpoints =
            webhookApplications.map(RequestsInFlight.Endpoint.webhook)
            + logoutApplications.map(RequestsInFlight.Endpoint.logout)
        let slots = inFlight.freeSlots(for: endpoints, capacity: transport.capacity)
        var (eventLimits, logoutLimits): ([String: Int], [String: Int]) = ([:], [:])
        for (endpoint, count) in slots {
            switch endpoint {
            case .webhook(let id): eventLimits[id] = count
            case .logout(let id): logoutLimits[id] = count
            }
        }
        var attempts: [Attempt] = []
        for logout in try await queue.claimLogouts(logoutLimits) {
            if let subscriber = subscribers[logout.application] { attempts.append(.logout(logout, subscriber)) }
        }
        // If the claim of the events fails, the claimed logouts are sent nevertheless.
        let claimed = await loggingFailure { () throws(DatabaseError) in
            let deliveries = try await queue.claimDeliveries(eventLimits)
            return (deliveries, try await queue.database.accounts(of: deliveries.map(\.event)))
        }
        let (deliveries, accounts) = claimed ?? ([], [:])
        for delivery in deliveries {
            guard let subscriber = subscribers[delivery.application] else { continue }
            attempts.append(.delivery(delivery, about: accounts[delivery.event.account], subscriber))
        }
        return attempts
    }

    private func perform(_ attempt: Attempt) async throws(DatabaseError) {
        switch attempt {
        case .delivery(let delivery, let account, let subscriber): try await deliver(delivery, account, subscriber)
        case .logout(let logout, let subscriber): try await deliver(logout, subscriber)
        }
    }

    // MARK: - Webhooks

    private func deliver(
        _ delivery: EventQueue.Delivery,
        _ account: Account?,
        _ subscriber: EventSubscriber
    ) async throws(DatabaseError) {
        guard let endpoint = subscriber.webhook else { return }
        let request = EventRequest.webhook(
            delivery.event,
            about: account,
            to: endpoint,
            of: subscriber,
            at: Date()
        )
        let outcome = await transport.post(request)
        guard let failure = Failure(outcome) else {
            metrics.events.add(1, "delivered")
            return try await queue.finish(delivery)
        }
        let delay = RetrySchedule.delay(after: delivery.attempts).map { max($0, failure.retryAfter) }
        metrics.events.add(1, delay == nil ? "failed" : "postponed")
        logger.log(
            level: delay == nil || failure.isGone ? .error : .warning,
            failure.isGone
                ? "webhook disabled: the application answered 410"
                : delay == nil ? "event not delivered, gave up" : "event not delivered, will retry",
            metadata: [
                "event": "\(delivery.event.id)", "application": "\(subscriber.id)", "reason": "\(failure.reason)",
                "attempt": "\(delivery.attempts)", "trace_id": "\(delivery.event.traceID)",
            ]
        )
        try await queue.recordFailure(
            of: delivery,
            failure.reason,
            retryIn: delay,
            pausing: failure.pause,
            disablesWebhook: failure.isGone
        )
    }

    // MARK: - Back-channel logout

    private static let logoutLifetime = TimeInterval(24 * 3600)

    /// Makes one attempt to tell an application of a logout, with a new token (Back-Channel Logout 1.0, section 2.8).
    /// After a failure that may be temporary (``Failure/isRecoverable``), schedules another attempt, if the attempt is
    /// due less than 24 hours after the logout. Otherwise gives up.
    private func deliver(_ logout: EventQueue.Logout, _ subscriber: EventSubscriber) async throws(DatabaseError) {
        guard let url = subscriber.backchannelLogoutURI else { return }
        let outcome: EventOutcome
        do {
            outcome = await transport.post(.logout(try await signLogout(claims(of: logout), subscriber.id), to: url))
        } catch {
            outcome = .failed("cannot sign the logout token: \(error)")
        }
        guard let failure = Failure(outcome) else {
            metrics.logouts.add(1, "delivered")
            return try await queue.finish(logout)
        }
        // Waits at most an hour because of `Retry-After`, so that an application does not delay the sign-out of a
        // person by a day.
        let delay = RetrySchedule.delay(after: logout.attempts).map { max($0, min(failure.retryAfter, 3600)) }
        let isInTime = logout.claimedAt.timeIntervalSince(logout.createdAt) + Double(delay ?? 0) < Self.logoutLifetime
        let metadata: Logger.Metadata = [
            "sid": "\(logout.sid.text)", "application": "\(subscriber.id)",
            "reason": "\(failure.reason)",
        ]
        if let delay, isInTime, failure.isRecoverable {
            metrics.logouts.add(1, "postponed")
            logger.warning("logout not delivered, will retry", metadata: metadata)
            return try await queue.recordFailure(of: logout, failure.reason, retryIn: delay)
        }
        guard try await queue.giveUp(logout) else { return }
        metrics.logouts.add(1, "failed")
        logger.error("logout not delivered, gave up", metadata: metadata)
    }

    private func claims(of logout: EventQueue.Logout) -> [JSON.Member] {
        let now = Int(Date().timeIntervalSince1970)
        return [
            .init("iss", .string(issuer)), .init("aud", .string(logout.application)), .init("iat", .integer(now)),
            .init("exp", .integer(now + 120)), .init("jti", .string(UUID().text)),
            .init("events", ["http://schemas.openid.net/event/backchannel-logout": [:]]),
            .init("sub", .string(logout.account.description)),
            .init("sid", .string(logout.sid.text)),
        ]
    }
}

/// A failed attempt.
private struct Failure {
    let reason: String
    /// The status of the response; nil if there was none.
    let status: Int?
    /// The application's `Retry-After` in seconds, at most a day; 0 if there is none.
    let retryAfter: Int

    /// Returns nil for a success, which is a status from 200 to 299.
    init?(_ outcome: EventOutcome) {
        switch outcome {
        case .answered(200...299, _): return nil
        case .answered(let status, let retryAfter):
            (reason, self.status) = ("answered \(status)", status)
            self.retryAfter = min(max(retryAfter, 0), 86_400)
        case .failed(let reason): (self.reason, status, retryAfter) = (reason, nil, 0)
        }
    }

    var isGone: Bool { status == 410 }

    /// The seconds for which the application gets no events, because the status of its response says that it is
    /// overloaded or unavailable: `Retry-After`, clamped to 5…3600. 0 for any other failure.
    var pause: Int { [429, 502, 503, 504].contains(status) ? min(max(retryAfter, 5), 3600) : 0 }

    /// Whether the same request may succeed later: there was no response, or the status is 408, 429 or 5xx.
    var isRecoverable: Bool { status.map { $0 >= 500 || $0 == 408 || $0 == 429 } ?? true }
}

extension EventSender: Service {
    /// Claims and delivers due events and logouts, each second and after each attempt. At shutdown, returns when the
    /// current attempts have ended.
    package func run() async {
        let inFlight = RequestsInFlight()
        await withDiscardingTaskGroup { group in
            group.addTask {
                for await _ in Ticks(every: .seconds(1)).cancelOnGracefulShutdown() { wakeup.yield() }
            }
            for await _ in wakeups.cancelOnGracefulShutdown() {
                if Task.isShuttingDownGracefully { break }
                let attempts = await loggingFailure { () throws(DatabaseError) in try await claim(for: inFlight) } ?? []
                for attempt in attempts {
                    inFlight.begin(attempt.endpoint)
                    group.addTask {
                        await loggingFailure { () throws(DatabaseError) in try await perform(attempt) }
                        inFlight.end(attempt.endpoint)
                        wakeup.yield()
                    }
                }
            }
        }
    }

    /// Runs the work. After a failure, logs it and returns nil. Events and logouts that were claimed are then tried
    /// again two minutes after their claim.
    @discardableResult
    private func loggingFailure<Value>(_ work: () async throws(DatabaseError) -> Value) async -> Value? {
        do throws(DatabaseError) {
            return try await work()
        } catch {
            metrics.failures.add(1, "events")
            logger.warning("cannot process the events and logouts, will retry", metadata: ["reason": "\(error)"])
            return nil
        }
    }
}
