import Accounts
import HTTPTypes
import Hummingbird
import Logging

/// Gives every request an id, writes its log line, and records its metrics.
///
/// A refusal that may be a part of abuse adds to the line of its request what was refused and a pseudonym of the network,
/// and raises its level to notice. It adds no line, so a flood of refusals does not fill the disk faster than any other.
struct RequestLog: RouterMiddleware {
    let signups: Signups
    let proxies: Proxies

    func handle(_ request: Request, context: RequestScope, next: Next) async throws -> Response {
        let start = ContinuousClock.now
        var context = context
        context.requestID = Self.requestID(of: request)
        context.logger[metadataKey: "request_id"] = "\(context.requestID)"
        if let trace = Self.traceID(of: request) { context.logger[metadataKey: "trace_id"] = "\(trace)" }
        var response = try await next(request, context)
        response.headers[.requestID] = context.requestID
        let time = ContinuousClock.now - start
        let (method, route) = (Self.knownMethod(request.method), context.endpointPath ?? "none")
        signups.metrics.requests.record(time, method, route, "\(response.status.code)")
        if let draft = context.subject.draft { context.logger[metadataKey: "draft"] = "\(draft.id)" }
        var metadata: Logger.Metadata = [
            "method": "\(method)", "route": "\(route)", "status": .stringConvertible(response.status.code),
            "ms": .stringConvertible(time.milliseconds),
        ]
        let (event, step) = (context.subject.event, context.subject.step)
        if let event {
            let network = proxies.network(of: context.peer, request.headers)
            let (name, site) = (signups.pseudonym(of: network), signups.pseudonym(of: network.site))
            metadata.merge(event.metadata(step: step, network: name, site: site)) { $1 }
        }
        context.logger.log(level: event == nil ? .info : .notice, "request", metadata: metadata)
        return response
    }

    /// The id that the client sent if it is safe to log; otherwise a new one.
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

    /// The trace id of the request (W3C Trace Context, §3.2): 32 digits of `traceparent`, not all of them zero.
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

extension Duration {
    /// With one decimal place, for logs.
    fileprivate var milliseconds: Double {
        let (seconds, attoseconds) = components
        return ((Double(seconds) * 1000 + Double(attoseconds) / 1e15) * 10).rounded() / 10
    }
}
