import Accounts
import HTTPTypes
import Hummingbird
import Logging

/// Gives every request an id, writes its log line, and records its metrics. At the level debug, a second line says what
/// the service has done for the request.
///
/// If a problem or an OAuth error answers the request, the line names it, and the step. If the request may be a part of
/// abuse, the line also has the kind of the ``SecurityEvent`` and pseudonyms of the client's network and of its site,
/// which is the IPv4 address or the /48 of IPv6. Its level is then notice instead of info. There is no additional line,
/// so refused requests do not fill the disk faster than others. Health checks that succeed are logged at the level
/// debug only.
///
/// A path may contain a secret, so the line never has the path that a client has sent. If no route matches, it has the
/// first segment, but only if it is that of a route.
struct RequestLog: RouterMiddleware {
    let signups: Signups
    let proxies: Proxies
    /// The first segments of the paths of all routes, such as `signup`.
    let firstSegments: Set<Substring>

    func handle(_ request: Request, context: RequestScope, next: Next) async throws -> Response {
        let start = ContinuousClock.now
        var context = context
        context.requestID = Self.requestID(of: request)
        context.logger[metadataKey: "request_id"] = "\(context.requestID)"
        if let trace = Self.traceID(of: request) { context.logger[metadataKey: "trace_id"] = "\(trace)" }
        let work = context.logger.logLevel <= .debug ? RequestWork() : nil
        let scope = context
        var response = try await RequestWork.$current.withValue(work) { try await next(request, scope) }
        response.headers[.requestID] = context.requestID
        let time = ContinuousClock.now - start
        let (method, route) = (Self.knownMethod(request.method), context.endpointPath ?? "none")
        signups.metrics.requests.record(time, method, route, "\(response.status.code)")
        let (step, problem) = (context.subject.step, context.subject.problem)
        if let step, [.put, .post].contains(request.method), let prefix = Self.stepPrefix(ofRoute: route) {
            signups.metrics.steps.record(time, prefix + step.rawValue, problem ?? "accepted")
        }
        if let draft = context.subject.draft { context.logger[metadataKey: "draft"] = "\(draft.id)" }
        var metadata: Logger.Metadata = [
            "method": "\(method)", "route": "\(route)", "status": .stringConvertible(response.status.code),
            "ms": .stringConvertible(time.milliseconds),
        ]
        if let problem {
            metadata["problem"] = "\(problem)"
            if let step { metadata["step"] = "\(step)" }
        }
        if route == "NotFound" { metadata["path"] = "\(knownPart(of: request.uri.path))" }
        let event = context.subject.event
        if let event {
            let network = proxies.clientNetwork(context.peer, request.headers)
            let (name, site) = (signups.pseudonym(of: network), signups.pseudonym(of: network.site))
            metadata.merge(event.metadata(network: name, site: site)) { $1 }
        }
        let level: Logger.Level = event != nil ? .notice : Self.isHealthy(route, response) ? .debug : .info
        context.logger.log(level: level, "request", metadata: metadata)
        if let work {
            var details = work.totals.metadata
            details["route"] = "\(route)"
            if let step { details["step"] = "\(step)" }
            if let problem { details["problem"] = "\(problem)" }
            context.logger.debug("work of the request", metadata: details)
        }
        return response
    }

    /// The first segment of the path if a route begins with it.
    private func knownPart(of path: String) -> String {
        guard let segment = path.split(separator: "/").first, firstSegments.contains(segment) else { return "unknown" }
        return "/\(segment)/…"
    }

    /// What precedes the name of the step in the metric of submissions, as in `drafts list`: nothing for a sign-up. Nil
    /// if the route submits no step.
    private static func stepPrefix(ofRoute route: String) -> String? {
        switch route {
        case "/signup", "/signup/{step}": ""
        case "/recovery", "/recovery/{step}": "recovery/"
        // The page of the account at which a change of the address begins has the form of the first step.
        case "/email-change/{step}", "/account/email": "email-change/"
        default: nil
        }
    }

    private static func isHealthy(_ route: String, _ response: Response) -> Bool {
        route.hasPrefix("/health/") && response.status == .ok
    }

    /// The `X-Request-Id` of the request if it has 8 to 64 letters, digits and hyphens, all ASCII; otherwise a new id.
    private static func requestID(of request: Request) -> String {
        let isHarmless: (UInt8) -> Bool = { $0.isASCIIAlphanumeric || $0 == UInt8(ascii: "-") }
        if let given = request.headers[.requestID], (8...64).contains(given.utf8.count),
            given.utf8.allSatisfy(isHarmless)
        {
            return given
        }
        return newRequestID()
    }

    static func newRequestID() -> String { ID<Request>().description }

    /// The trace id in `traceparent` (W3C Trace Context, §3.2): 32 hexadecimal digits, not all of them zero. Nil if the
    /// field is missing or invalid.
    private static func traceID(of request: Request) -> Substring? {
        guard let parts = request.headers[.traceParent]?.split(separator: "-", omittingEmptySubsequences: false),
            parts.count >= 4, parts.prefix(4).map(\.utf8.count) == [2, 32, 16, 2], parts[0] != "ff",
            parts[0] != "00" || parts.count == 4,
            parts.prefix(4).allSatisfy({ $0.utf8.allSatisfy { "0123456789abcdef".utf8.contains($0) } }),
            parts[1].contains(where: { $0 != "0" }), parts[2].contains(where: { $0 != "0" })
        else { return nil }
        return parts[1]
    }

    /// The method as a label of metrics. A client may send any word as the method, so unusual methods share one label.
    private static func knownMethod(_ method: HTTPRequest.Method) -> String {
        let known: [HTTPRequest.Method] = [.get, .head, .post, .put, .delete, .options, .patch]
        return known.contains(method) ? method.rawValue : "other"
    }
}

extension RequestWork.Totals {
    fileprivate var metadata: Logger.Metadata {
        var metadata: Logger.Metadata = [
            "round_trips": .stringConvertible(roundTrips), "database_ms": .stringConvertible(database.milliseconds),
        ]
        if hashes > 0 {
            metadata["hashes"] = .stringConvertible(hashes)
            metadata["hash_wait_ms"] = .stringConvertible(hashWait.milliseconds)
            metadata["hash_ms"] = .stringConvertible(hash.milliseconds)
        }
        if !limits.isEmpty { metadata["limits"] = "\(limits.joined(separator: " "))" }
        return metadata
    }
}

extension Duration {
    /// The duration in milliseconds, rounded to one decimal place.
    fileprivate var milliseconds: Double {
        let (seconds, attoseconds) = components
        return ((Double(seconds) * 1000 + Double(attoseconds) / 1e15) * 10).rounded() / 10
    }
}
